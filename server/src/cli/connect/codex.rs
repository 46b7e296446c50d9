//! Adds Shiftbook's MCP server to the settings of Codex, as a text, or removes it. All other text stays as it is.

use std::path::Path;

const HEADER: &str = "[mcp_servers.shiftbook]";

/// Sets the table of the server, or removes it if `program` is `None`.
///
/// # Errors
/// If the text is no TOML, or if a table of someone else would be replaced.
pub fn server(text: &str, program: Option<&str>) -> Result<String, String> {
    let table = text.parse::<toml::Table>();
    let table = table.map_err(|error| format!("it is not TOML ({error}); nothing was changed"))?;
    let present = table.get("mcp_servers").and_then(|servers| servers.get("shiftbook"));
    let command = present.and_then(|server| server.get("command")).and_then(toml::Value::as_str);
    let is_ours = command.and_then(|command| Path::new(command).file_name()).is_some_and(|name| name == "shiftbook");
    match (present, program) {
        (None, None) => Ok(text.to_owned()),
        (None, Some(program)) => added(text, program),
        (Some(_), None) if !is_ours => Ok(text.to_owned()),
        (Some(_), Some(_)) if !is_ours => {
            Err("`mcp_servers.shiftbook` is not of Shiftbook; nothing was changed".to_owned())
        }
        (Some(_), Some(program)) if command == Some(program) => Ok(text.to_owned()),
        (Some(_), None) => removed(text),
        (Some(_), Some(program)) => added(&removed(text)?, program),
    }
}

/// A table at the end is part of no other one.
fn added(text: &str, program: &str) -> Result<String, String> {
    let program = serde_json::to_string(program).map_err(|error| error.to_string())?;
    let between = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok(format!("{text}{between}{HEADER}\ncommand = {program}\nargs = [\"mcp\"]\n"))
}

fn removed(text: &str) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let begin = lines.iter().position(|line| line.trim() == HEADER);
    let begin = begin.ok_or_else(|| format!("`{HEADER}` is written in another form; remove it by hand"))?;
    let rest = lines.iter().skip(begin + 1).position(|line| line.trim_start().starts_with('['));
    let end = rest.map_or(lines.len(), |rest| begin + 1 + rest);
    let (before, after) = (lines[..begin].concat(), lines[end..].concat());
    // The empty line before the table came with it.
    let before = before.strip_suffix("\n\n").map_or_else(|| before.clone(), |before| format!("{before}\n"));
    let between = if after.is_empty() || before.is_empty() { "" } else { "\n" };
    Ok(format!("{before}{between}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: &str = "# mine\nmodel = \"gpt-5.5\"\n\n[mcp_servers.mine]\ncommand = \"mine\"\n";

    #[test]
    fn the_server_is_added_once_follows_the_program_and_is_removed_again() {
        for before in ["", OTHERS] {
            let made = server(before, Some("/usr/bin/shiftbook")).unwrap();
            assert_eq!(server(&made, Some("/usr/bin/shiftbook")).unwrap(), made);
            let moved = server(&made, Some("/my \"tools\"/shiftbook")).unwrap();
            let table: toml::Table = moved.parse().unwrap();
            assert_eq!(table["mcp_servers"]["shiftbook"]["command"].as_str(), Some("/my \"tools\"/shiftbook"));
            assert_eq!(server(&moved, None).unwrap(), before);
            assert_eq!(server(before, None).unwrap(), before);
        }
        let between =
            format!("{}\n[features]\nmemories = false\n", server(OTHERS, Some("/usr/bin/shiftbook")).unwrap());
        assert_eq!(server(&between, None).unwrap(), format!("{OTHERS}\n[features]\nmemories = false\n"));
    }

    #[test]
    fn what_others_wrote_is_not_replaced_and_not_removed() {
        let other = "[mcp_servers.shiftbook]\nurl = \"http://a\"\n";
        assert!(server(other, Some("/usr/bin/shiftbook")).unwrap_err().contains("nothing was changed"));
        assert_eq!(server(other, None).unwrap(), other);
        assert!(server("a = ", Some("x")).unwrap_err().contains("nothing was changed"));
        let inline = "mcp_servers.shiftbook = { command = \"shiftbook\" }\n";
        assert!(server(inline, None).unwrap_err().contains("by hand"));
    }
}
