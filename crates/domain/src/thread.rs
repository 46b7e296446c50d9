//! Conversations: sessions of an agent that are idle between turns.

use crate::{line::without_overrides, names::names, terminal::without_sequences};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The `source` of a conversation's session.
pub const SOURCE: &str = "thread";

/// Reason that is recorded when a person stops a turn.
pub const INTERRUPTED: &str = "interrupted by its person";
/// Longest title made from a first message, characters.
const TITLE_CHARS: usize = 80;

/// The author of a conversation's summary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// The conversation's agent.
    Agent,
    /// No one: the summary quotes the log.
    #[default]
    Log,
}

names!(SummaryBy { Agent = "agent", Log = "log" });

/// Makes a title from the first non-empty line of a message; `None` if every line is empty. Colours of terminals are
/// left out, and characters that override the direction of text are replaced: both would change the list of titles.
pub fn title(message: &str) -> Option<String> {
    let message = without_overrides(&without_sequences(message));
    let line = message.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Some(cut(&line, TITLE_CHARS))
}

/// Returns the title of a conversation without messages, or of an incognito one. `with` is the agent's name.
pub fn untitled(with: &str) -> String {
    format!("Conversation with {with}")
}

/// Truncates a text to `max` characters. A truncated text ends with an ellipsis.
pub fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(max.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Returns the texts of a message's parts, one per line.
pub fn text_of(content: &str) -> String {
    let parts: Vec<Value> = serde_json::from_str(content).unwrap_or_default();
    let texts: Vec<_> = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    texts.join("\n")
}

/// Key in a session's metadata that marks an incognito conversation.
pub const INCOGNITO: &str = "incognito";

/// Whether a session's metadata mark it as incognito.
pub fn is_incognito(metadata: &str) -> bool {
    serde_json::from_str::<Value>(metadata).is_ok_and(|metadata| metadata[INCOGNITO] == true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_says_something_cut_to_a_length() {
        assert_eq!(title("\n  Find the\tstage \nof Acme").as_deref(), Some("Find the stage"));
        assert_eq!(title(" \n\t"), None);
        assert_eq!(title("\u{1b}[0m\n[31mred\u{202e}").as_deref(), Some("red\u{fffd}"));
        let long = title(&"é".repeat(200)).unwrap();
        assert_eq!((long.chars().count(), long.ends_with('…')), (TITLE_CHARS, true));
    }

    #[test]
    fn only_the_boolean_makes_a_session_incognito() {
        assert!(is_incognito(r#"{"incognito":true}"#));
        for other in ["{}", r#"{"incognito":"true"}"#, "[]", ""] {
            assert!(!is_incognito(other), "{other}");
        }
        assert_eq!(text_of(r#"[{"type":"text","text":"a"},{"type":"file"},{"type":"text","text":"b"}]"#), "a\nb");
    }
}
