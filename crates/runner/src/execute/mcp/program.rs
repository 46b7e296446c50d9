//! Programs that an operator allows as MCP servers.

use serde::Deserialize;

/// The table `[mcp.NAME]` of the settings: a program that a workspace may use as an MCP server under this name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Slug of the workspace that may use it.
    pub workspace: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Names of environment variables with secrets that the program inherits although they are secrets of the server.
    #[serde(default)]
    pub secret_env: Vec<String>,
}

impl Program {
    /// Checks the settings without looking at the environment.
    ///
    /// # Errors
    /// The first problem, with its key.
    pub fn check(&self) -> Result<(), String> {
        if self.workspace.trim().is_empty() {
            return Err("`workspace` is missing: the workspace that may use it".to_owned());
        }
        if self.command.first().is_none_or(String::is_empty) {
            return Err("`command` is missing: a list of the program and its arguments".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_workspace_and_a_command() {
        let program = |text: &str| toml::from_str::<Program>(text).unwrap().check();
        assert_eq!(program("workspace = \"acme\"\ncommand = [\"mcp-files\", \"/srv\"]"), Ok(()));
        assert!(program("workspace = \"acme\"\ncommand = []").unwrap_err().contains("`command`"));
        assert!(program("workspace = \" \"\ncommand = [\"a\"]").unwrap_err().contains("`workspace`"));
    }
}
