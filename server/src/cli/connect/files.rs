//! The files that connect each host.

use super::{
    codex,
    json::{self, NAME, is_mcp},
};
use crate::cli::{
    common::Failure,
    hook::{folder_in, settings, settings_file},
    settings_file::{Change, Previous, quoted, this_program},
};
use domain::hook::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The tool for ratings, as Claude Code names it. Without the permission it asks a person before each rating.
const CLAUDE_CODE_TOOL: &str = "mcp__shiftbook__rate_memories";
/// Module that passes events on, for the hosts that load plugins.
const FORWARD: &str = include_str!("../../../connectors/forward.ts");
const OPENCODE: &str = include_str!("../../../connectors/opencode.ts");
const PI: &str = include_str!("../../../connectors/pi.ts");
const OPENCLAW: [(&str, &str); 3] = [
    ("index.ts", include_str!("../../../connectors/openclaw/index.ts")),
    ("openclaw.plugin.json", include_str!("../../../connectors/openclaw/openclaw.plugin.json")),
    ("package.json", include_str!("../../../connectors/openclaw/package.json")),
];
/// The line of [`FORWARD`] with the program.
const PROGRAM: &str = "const PROGRAM = ";

/// The changes that connect a host, or remove what connects it if `is_wanted` is false. Each may be done already.
///
/// # Errors
/// If a file cannot be read, or has something else where an entry belongs.
pub fn changes(host: Source, is_wanted: bool) -> Result<Vec<Change>, Failure> {
    let program = this_program()?;
    match host {
        Source::ClaudeCode => claude_code(&program, is_wanted),
        Source::Codex => of_codex(&program, is_wanted),
        Source::Gemini => gemini(&program, is_wanted),
        Source::OpenCode => {
            let folder = folder_in("XDG_CONFIG_HOME").map_or_else(|| home(".config"), Ok)?.join("opencode/plugin");
            let forward = with_program(&program)?;
            let forward = plugin_file(&folder.join("shiftbook/forward.ts"), forward, is_wanted)?;
            Ok(vec![forward, plugin_file(&folder.join("shiftbook.ts"), OPENCODE.to_owned(), is_wanted)?])
        }
        Source::Pi => {
            let agent = folder_in("PI_CODING_AGENT_DIR").map_or_else(|| home(".pi/agent"), Ok)?;
            plugin_folder(&agent.join("extensions/shiftbook"), &program, &[("index.ts", PI)], is_wanted)
        }
        Source::OpenClaw => {
            let state = folder_in("OPENCLAW_STATE_DIR").map_or_else(|| home(".openclaw"), Ok)?;
            let mut changes = plugin_folder(&state.join("extensions/shiftbook"), &program, &OPENCLAW, is_wanted)?;
            changes.push(Change::edited(&state.join("openclaw.json"), |text| openclaw(text, is_wanted))?);
            Ok(changes)
        }
    }
}

fn home(folder: &str) -> Result<PathBuf, Failure> {
    let home = folder_in("HOME").ok_or_else(|| Failure::Misused("HOME is not set".into()))?;
    Ok(home.join(folder))
}

/// The settings of Claude Code or Gemini CLI with the hooks, or without them.
fn hooks(text: &str, host: Source, program: &str, is_wanted: bool) -> Result<String, String> {
    if is_wanted { settings::install(text, host, &quoted(program)) } else { settings::uninstall(text, host) }
}

fn claude_code(program: &str, is_wanted: bool) -> Result<Vec<Change>, Failure> {
    let host = Source::ClaudeCode;
    let settings = Change::edited(&settings_file(host)?, |text| {
        let text = hooks(text, host, program, is_wanted)?;
        json::listed(&text, ("permissions", "allow"), CLAUDE_CODE_TOOL, is_wanted)
    })?;
    // Without `alwaysLoad` the model does not see the tool.
    let server = json!({ "type": "stdio", "command": program, "args": ["mcp"], "alwaysLoad": true });
    let servers = folder_in("CLAUDE_CONFIG_DIR").map_or_else(|| home(""), Ok)?.join(".claude.json");
    Ok(vec![settings, Change::edited(&servers, |text| mcp_server(text, &server, is_wanted))?])
}

fn of_codex(program: &str, is_wanted: bool) -> Result<Vec<Change>, Failure> {
    let file = settings_file(Source::Codex)?;
    let servers = file.with_file_name("config.toml");
    let hooks = Change::edited(&file, |text| hooks(text, Source::Codex, program, is_wanted))?;
    Ok(vec![hooks, Change::edited(&servers, |text| codex::server(text, is_wanted.then_some(program)))?])
}

fn gemini(program: &str, is_wanted: bool) -> Result<Vec<Change>, Failure> {
    // Without `trust` each rating asks a person.
    let server = json!({ "command": program, "args": ["mcp"], "trust": true });
    let settings = Change::edited(&settings_file(Source::Gemini)?, |text| {
        let text = hooks(text, Source::Gemini, program, is_wanted)?;
        mcp_server(&text, &server, is_wanted)
    })?;
    Ok(vec![settings])
}

fn mcp_server(text: &str, server: &Value, is_wanted: bool) -> Result<String, String> {
    json::entry(text, &["mcpServers"], is_wanted.then_some(server), is_mcp)
}

/// OpenClaw runs the plugin's handlers only if it is allowed to read conversations. A list of allowed plugins must name
/// it, but an absent list allows all.
fn openclaw(text: &str, is_wanted: bool) -> Result<String, String> {
    let plugin = json!({ "enabled": true, "hooks": { "allowConversationAccess": true } });
    let is_ours = |entry: &Value| *entry == plugin;
    let text = json::entry(text, &["plugins", "entries"], is_wanted.then_some(&plugin), is_ours)?;
    let has_list = serde_json::from_str::<Value>(&text).is_ok_and(|read| read["plugins"]["allow"].is_array());
    if has_list { json::listed(&text, ("plugins", "allow"), NAME, is_wanted) } else { Ok(text) }
}

/// A plugin with a folder of its own.
fn plugin_folder(
    folder: &Path,
    program: &str,
    files: &[(&str, &str)],
    is_wanted: bool,
) -> Result<Vec<Change>, Failure> {
    let forward = plugin_file(&folder.join("forward.ts"), with_program(program)?, is_wanted)?;
    let mut changes = vec![forward];
    for (name, text) in files {
        changes.push(plugin_file(&folder.join(name), (*text).to_owned(), is_wanted)?);
    }
    Ok(changes)
}

fn plugin_file(path: &Path, text: String, is_wanted: bool) -> Result<Change, Failure> {
    let first = text.lines().next().unwrap_or_default().to_owned();
    let written = without_program(&text);
    let previous = move |present: &str| {
        if without_program(present) == written {
            return Ok(Previous::Dropped);
        }
        // Of another version, or edited.
        let is_ours = present.lines().next() == Some(first.as_str()) && present.to_lowercase().contains(NAME);
        if is_ours { Ok(Previous::Kept) } else { Err("it is not of Shiftbook; nothing was changed".to_owned()) }
    };
    Change::whole(path, is_wanted.then_some(text), previous)
}

/// [`FORWARD`] with the path of the program.
fn with_program(program: &str) -> Result<String, Failure> {
    let program = serde_json::to_string(program).map_err(|error| Failure::Failed(error.to_string()))?;
    let line =
        |line: &str| if line.starts_with(PROGRAM) { format!("{PROGRAM}{program};\n") } else { format!("{line}\n") };
    Ok(FORWARD.lines().map(line).collect())
}

fn without_program(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with(PROGRAM)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connector_starts_the_program_that_wrote_it() {
        let made = with_program("/my \"tools\"/shiftbook").unwrap();
        assert!(made.contains("\nconst PROGRAM = \"/my \\\"tools\\\"/shiftbook\";\n"), "{made}");
        assert_eq!((without_program(&made), made.lines().count()), (without_program(FORWARD), FORWARD.lines().count()));
    }

    #[test]
    fn a_file_of_someone_else_is_not_replaced_and_an_edited_one_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shiftbook.ts");
        std::fs::write(&path, "export const mine = 1;\n").unwrap();
        for is_wanted in [true, false] {
            let refused = plugin_file(&path, OPENCODE.to_owned(), is_wanted).unwrap_err().to_string();
            assert!(refused.contains("nothing was changed"), "{refused}");
        }
        std::fs::write(&path, format!("{OPENCODE}// edited\n")).unwrap();
        let kept = plugin_file(&path, OPENCODE.to_owned(), true).unwrap().carry_out().unwrap();
        assert!(std::fs::read_to_string(kept.unwrap()).unwrap().ends_with("// edited\n"));
        let again = plugin_file(&path, OPENCODE.to_owned(), false).unwrap();
        assert_eq!(again.carry_out().unwrap(), None);
        assert!(!path.exists());
    }

    #[test]
    fn openclaw_gets_its_entry_and_a_place_in_a_list_that_is_there() {
        for before in [r#"{"plugins":{"allow":["mine"]}}"#, "{\"update\":{}}"] {
            let made = openclaw(before, true).unwrap();
            let read: Value = serde_json::from_str(&made).unwrap();
            assert_eq!(read["plugins"]["entries"][NAME]["hooks"]["allowConversationAccess"], true);
            assert_eq!(read["plugins"].get("allow").is_some(), before.contains("allow"));
            assert_eq!(openclaw(&made, true).unwrap(), made);
            let left: Value = serde_json::from_str(&openclaw(&made, false).unwrap()).unwrap();
            assert_eq!(left, serde_json::from_str::<Value>(before).unwrap());
        }
    }
}
