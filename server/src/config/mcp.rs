//! The tables `[mcp.NAME]` of the settings file: programs that workspaces may use as MCP servers.

use super::Error;
use runner::execute::mcp::Program;
use std::collections::BTreeMap;

/// Checks the programs.
///
/// # Errors
/// [`Error::Value`] for a name that is no slug, and for a program without a workspace or a command.
pub fn programs(file: BTreeMap<String, Program>) -> Result<BTreeMap<String, Program>, Error> {
    for (name, program) in &file {
        if !domain::slug::is_slug(name) {
            let why = "is not a program's name: lower-case letters, digits and single hyphens";
            return Err(Error::Value(format!("mcp: `{name}` {why}")));
        }
        program.check().map_err(|why| Error::Value(format!("mcp.{name}: {why}")))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_name_that_workspaces_can_write() {
        let read = |text: &str| programs(toml::from_str(text).unwrap());
        let good = read("[files]\nworkspace = \"acme\"\ncommand = [\"mcp-files\"]\n").unwrap();
        assert_eq!(good["files"].command, ["mcp-files"]);
        for (bad, wrong) in [
            ("[files]\nworkspace = \"acme\"\ncommand = []\n", "mcp.files: `command`"),
            ("[\"a b\"]\nworkspace = \"acme\"\ncommand = [\"x\"]\n", "mcp: `a b`"),
        ] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.starts_with(wrong), "{error}");
        }
    }
}
