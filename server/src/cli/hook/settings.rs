//! Adds the hooks to an agent's settings, as a text, or removes them. All other text stays as it is.

use super::limit::{INSTALLED_QUIT_TIMEOUT_SECONDS, INSTALLED_TIMEOUT_SECONDS};
use domain::hook::Source;
use jsonc_parser::{
    ParseOptions,
    cst::{CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
    json,
};
use serde_json::Value;
use std::fmt;

/// Claude Code's hooks that are forwarded: those that change a status or appear in a transcript. Claude Code has all of
/// them since version 2.1.78.
const CLAUDE_CODE: [&str; 16] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
    "Stop",
    "StopFailure",
    "SessionEnd",
];
/// Codex's hooks, all of them.
const CODEX: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "Interrupt",
    "SessionEnd",
];

/// Gemini CLI's hooks that are forwarded. It also calls hooks around each request to the model, with the whole request
/// in them.
const GEMINI: [&str; 6] = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"];

/// The hooks that are forwarded; empty for a host without hooks in its settings.
pub const fn events(source: Source) -> &'static [&'static str] {
    match source {
        Source::ClaudeCode => &CLAUDE_CODE,
        Source::Codex => &CODEX,
        Source::Gemini => &GEMINI,
        Source::OpenCode | Source::Pi | Source::OpenClaw => &[],
    }
}

/// The settings with the hooks added; unchanged if they are there. `program` is one word of a shell command.
pub fn install(text: &str, source: Source, program: &str) -> Result<String, String> {
    change(text, source, events(source), program)
}

/// The settings without the hooks.
pub fn uninstall(text: &str, source: Source) -> Result<String, String> {
    change(text, source, &[], "")
}

/// Parses the settings of a host, a JSON object. An empty text is an empty object.
///
/// # Errors
/// If the text is something else.
pub fn parse(text: &str) -> Result<CstRootNode, String> {
    let text_or_new = if text.trim().is_empty() { "{}\n" } else { text };
    let refused = |error: &dyn fmt::Display| format!("it is not a JSON object ({error}); nothing was changed");
    // The editor also takes comments and other extensions of JSON, which agents refuse.
    serde_json::from_str::<serde::de::IgnoredAny>(text_or_new).map_err(|error| refused(&error))?;
    let root = CstRootNode::parse(text_or_new, &ParseOptions::default()).map_err(|error| refused(&error))?;
    if root.object_value().is_some() { Ok(root) } else { Err(refused(&"it is another value")) }
}

fn change(text: &str, source: Source, events: &[&str], program: &str) -> Result<String, String> {
    let root = parse(text)?;
    let hooks = root.object_value().and_then(|settings| settings.object_value_or_create("hooks"));
    let hooks = hooks.ok_or("`hooks` is not an object; nothing was changed")?;
    let mut names: Vec<String> = hooks.properties().iter().filter_map(CstObjectProp::decoded_name).collect();
    names.extend(events.iter().filter(|event| hooks.get(event).is_none()).map(|event| (*event).to_owned()));
    let mut changed = false;
    for name in names {
        let wanted = events.contains(&name.as_str()).then(|| handler(source, &name, program));
        changed |= change_event(&hooks, source, &name, wanted)?;
    }
    if !changed {
        return Ok(text.to_owned());
    }
    if hooks.properties().is_empty() {
        hooks.parent().into_iter().for_each(CstContainerNode::remove);
    }
    Ok(root.to_string())
}

/// One hook of Shiftbook.
struct Handler {
    command: String,
    timeout: u32,
}

impl Handler {
    /// A group of this hook alone, in the agents' documented format.
    fn group(self) -> CstInputValue {
        json!({
            "hooks": [{ "type": "command", "command": (self.command), "timeout": (self.timeout) }],
        })
    }

    /// Whether the settings have this hook there.
    fn is(&self, handler: &CstNode) -> bool {
        let wanted = serde_json::json!({ "type": "command", "command": self.command, "timeout": self.timeout });
        value(handler) == Some(wanted)
    }
}

fn handler(source: Source, event: &str, program: &str) -> Handler {
    let quits = matches!(event, "SessionEnd" | "Interrupt");
    let seconds = if quits { INSTALLED_QUIT_TIMEOUT_SECONDS } else { INSTALLED_TIMEOUT_SECONDS };
    // Gemini CLI takes milliseconds.
    let timeout = if source == Source::Gemini { seconds * 1_000 } else { seconds };
    Handler { command: format!("{program} hook {} {event}", source.as_str()), timeout }
}

/// Adds the wanted hook of one event and removes other hooks of Shiftbook from it. Returns whether anything changed.
fn change_event(hooks: &CstObject, source: Source, event: &str, wanted: Option<Handler>) -> Result<bool, String> {
    let refused = || format!("`hooks.{event}` is not a list of groups with `hooks`; nothing was changed");
    let elements = |of: &CstObject, name: &str| match of.get(name) {
        None => Ok(Vec::new()),
        Some(list) => list.array_value().map(|list| list.elements()).ok_or_else(refused),
    };
    let (mut changed, mut found) = (false, false);
    for group in elements(hooks, event)? {
        let group = group.as_object().ok_or_else(refused)?;
        let handlers = elements(&group, "hooks")?;
        let count = handlers.len();
        let stale = handlers.into_iter().filter(|handler| {
            let same = wanted.as_ref().is_some_and(|wanted| !found && wanted.is(handler));
            found |= same;
            !same && is_ours(handler, source, event)
        });
        let stale: Vec<CstNode> = stale.collect();
        changed |= !stale.is_empty();
        if stale.is_empty() || stale.len() < count {
            stale.into_iter().for_each(CstNode::remove);
        } else {
            group.remove();
        }
    }
    if let Some(wanted) = wanted.filter(|_| !found) {
        hooks.array_value_or_create(event).ok_or_else(refused)?.append(wanted.group());
        return Ok(true);
    }
    if changed && elements(hooks, event)?.is_empty() {
        hooks.get(event).into_iter().for_each(CstObjectProp::remove);
    }
    Ok(changed)
}

fn value(handler: &CstNode) -> Option<Value> {
    serde_json::from_str(&handler.to_string()).ok()
}

/// Whether an earlier `install` wrote this hook, whatever the path of the program was.
fn is_ours(handler: &CstNode, source: Source, event: &str) -> bool {
    let Some(handler) = value(handler) else { return false };
    let Some(command) = handler.get("command").and_then(Value::as_str) else { return false };
    let program = command.strip_suffix(&format!(" hook {} {event}", source.as_str()));
    program.is_some_and(|program| program.trim_matches(['\'', '"']).rsplit('/').next() == Some("shiftbook"))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
