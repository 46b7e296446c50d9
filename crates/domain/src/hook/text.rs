//! Describes hooks in one sentence each, for people.

use super::payload::Payload;
use crate::{line::without_overrides, terminal::without_sequences};
use serde_json::value::RawValue;

/// Longest text from the payload in a sentence, characters.
const ARGUMENT_CHARS_MAX: usize = 160;

/// Returns a sentence about a hook, for people.
pub(super) fn sentence(payload: &Payload<'_>) -> String {
    let get = |name: &str| payload.text(name);
    let about = |lead: &str, rest: Option<String>| match rest {
        Some(rest) => format!("{lead} {}", one_line(&rest)),
        None => lead.to_owned(),
    };
    let bracketed = |lead: &str, rest: Option<String>| match rest {
        Some(rest) => format!("{lead} ({})", one_line(&rest)),
        None => lead.to_owned(),
    };
    match payload.event.as_str() {
        "SessionStart" => {
            let model = get("model").map(|model| format!(", {}", one_line(&model))).unwrap_or_default();
            format!("{}{model}", bracketed("session started", get("source")))
        }
        "SessionEnd" => bracketed("session ended", get("reason")),
        "PermissionRequest" => format!("asks for permission: {}", tool(payload)),
        "PermissionDenied" => format!("was denied permission: {}", tool(payload)),
        "Notification" => {
            get("message").or_else(|| get("title")).map_or_else(|| "notification".into(), |m| one_line(&m))
        }
        "Elicitation" => about(
            "a tool server asks for input:",
            get("message").or_else(|| get("mcp_server_name")).or_else(|| get("server_name")),
        ),
        "ElicitationResult" => bracketed("the tool server's question was answered", get("action")),
        "Stop" => "turn ended".into(),
        "Interrupt" => "turn interrupted".into(),
        "SubagentStart" => about("subagent started:", get("agent_type")),
        "SubagentStop" => about(
            &about("subagent finished:", get("agent_type")),
            get("last_assistant_message").map(|said| format!("\u{2014} {said}")),
        ),
        "PreCompact" => bracketed("compacts its context", get("trigger")),
        "PostCompact" => bracketed("has compacted its context", get("trigger")),
        "TaskCreated" => about("task created:", get("task_subject")),
        "TaskCompleted" => about("task completed:", get("task_subject")),
        other => about(&spaced(other), get("message").or_else(|| get("reason"))),
    }
}

/// Returns the tool with its main argument, such as `Bash: cargo test`.
pub(super) fn tool(payload: &Payload<'_>) -> String {
    let name = payload.text("tool_name").unwrap_or_else(|| "a tool".into());
    let Some(input) = payload.raw("tool_input") else { return one_line(&name) };
    match argument(input) {
        Some(argument) => format!("{}: {}", one_line(&name), one_line(&argument)),
        None => one_line(&name),
    }
}

/// Returns the main argument of a call: the first non-empty text of `command`, `file_path`, `url` and
/// `description`.
pub(super) fn argument(input: &RawValue) -> Option<String> {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Input<'a> {
        #[serde(borrow)]
        command: Option<&'a RawValue>,
        #[serde(borrow)]
        file_path: Option<&'a RawValue>,
        #[serde(borrow)]
        url: Option<&'a RawValue>,
        #[serde(borrow)]
        description: Option<&'a RawValue>,
    }
    let input: Input<'_> = serde_json::from_str(input.get()).ok()?;
    let known = [input.command, input.file_path, input.url, input.description];
    known.into_iter().flatten().find_map(super::payload::string).filter(|text| !text.trim().is_empty())
}

/// Splits a name at its capitals: `FileChanged` becomes `file changed`.
fn spaced(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for (at, c) in name.chars().enumerate() {
        if c.is_uppercase() && at > 0 {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// Returns the text as a title of at most `chars_max` characters: on one line, without colours of terminals and without
/// characters that override the direction of text, which are replaced.
pub(super) fn title(text: &str, chars_max: usize) -> String {
    shortened(&without_overrides(&without_sequences(text)), chars_max)
}

/// Returns the text on one line of at most [`ARGUMENT_CHARS_MAX`] characters.
pub(super) fn one_line(text: &str) -> String {
    shortened(text, ARGUMENT_CHARS_MAX)
}

/// Returns the text on one line of at most `chars_max` characters, without control characters. A truncated text
/// ends with an ellipsis.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().count() > chars_max {
            line = line.chars().take(chars_max.saturating_sub(1)).collect();
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_unknown_hooks_become_words() {
        assert_eq!(spaced("WorktreeCreate"), "worktree create");
        assert_eq!(spaced("already_spaced"), "already_spaced");
    }

    #[test]
    fn a_line_is_short_and_has_no_control_characters() {
        assert_eq!(shortened("a\n b\u{7}c  d", 20), "a b c d");
        assert_eq!(shortened(&"x".repeat(50), 10).chars().count(), 10);
    }
}
