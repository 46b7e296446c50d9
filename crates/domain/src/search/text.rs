//! The text of an event that is searched: what people and agents said, names, inputs and outputs of tools, errors,
//! questions and decisions.
//!
//! Not searched are events that only say how the session went on, drafts, which pages a person opened, and context that
//! the server gave to an agent: it repeats what other logs say.

use crate::{
    event::{Body, Known},
    limit::SEARCH_EVENT_BYTES_MAX,
};
use serde_json::{Map, Value};

/// Kinds of events that are not searched.
const NOT_SEARCHED: [Known; 11] = [
    Known::SessionCreated,
    Known::SessionClaimed,
    Known::SessionStatusChange,
    Known::SessionCompleted,
    Known::SessionContextInjected,
    Known::UserFormDraft,
    Known::HumanNavigate,
    Known::HumanEntityView,
    Known::HumanTaskSwitch,
    Known::SessionTagsChange,
    Known::SessionAssigneeChange,
];
/// Kinds whose metadata describe how the content was made, not what it says.
const CONTENT_ALONE: [Known; 7] = [
    Known::UserMessage,
    Known::AgentMessage,
    Known::AgentToolCall,
    Known::AgentToolResult,
    Known::AgentThinking,
    Known::HumanMarker,
    Known::StatePatch,
];
/// Members of metadata that are figures and names of Shiftbook itself.
const NOT_SAID: [&str; 9] = ["attempt", "digest", "gate", "kind", "number", "onExpiry", "rev", "usage", "version"];
/// Endings of such members.
const NOT_SAID_ENDINGS: [&str; 5] = ["Id", "_id", "Digest", "At", "_at"];
/// Members of a part that hold a file or say what the part is.
const NOT_SAID_IN_PARTS: [&str; 8] =
    ["type", "toolCallId", "tool_call_id", "data", "image", "providerMetadata", "providerOptions", "mediaType"];
/// Length from which a text of base64 letters alone is taken for a file, bytes.
const FILE_BYTES_MIN: usize = 200;

/// Whether events of this kind are searched.
pub fn is_searched(kind: &str) -> bool {
    !NOT_SEARCHED.iter().any(|known| known.as_str() == kind)
}

/// The text of an event that is searched and shown as found: at most [`SEARCH_EVENT_BYTES_MAX`], empty for an event
/// that is not searched or was erased. Content and metadata are as they are stored.
pub fn searched_text(kind: &str, content: &str, metadata: &str) -> String {
    let mut text = Text(String::new());
    if is_searched(kind) {
        text.content(content);
        if !CONTENT_ALONE.iter().any(|known| known.as_str() == kind) {
            text.metadata(&serde_json::from_str(metadata).unwrap_or_default());
        }
    }
    text.0
}

/// The text of an event that is found in its own log: that of [`searched_text`]. An event that is not searched in the
/// whole workspace has the sentence that pages show, and its content.
pub fn logged_text(kind: &str, content: &str, metadata: &str) -> String {
    if is_searched(kind) {
        return searched_text(kind, content, metadata);
    }
    let mut text = Text(String::new());
    if let Some(sentence) = Body::read(kind, content, metadata).sentence() {
        text.push(&sentence);
    }
    text.content(content);
    text.0
}

/// A text that grows up to its limit. Pieces are separated by spaces, parts by line breaks.
struct Text(String);

impl Text {
    fn content(&mut self, content: &str) {
        let parts: Vec<Value> = serde_json::from_str(content).unwrap_or_default();
        for part in &parts {
            self.part(part);
        }
    }

    fn part(&mut self, part: &Value) {
        self.separate('\n');
        match part {
            Value::Object(members) => {
                let said = by_name(members).filter(|(name, _)| !NOT_SAID_IN_PARTS.contains(&name.as_str()));
                // The name of the tool comes before its input, and what a part says has no name.
                let (named, rest): (Vec<_>, Vec<_>) =
                    said.partition(|(name, _)| ["toolName", "tool_name", "text"].contains(&name.as_str()));
                for (_, value) in named {
                    self.value(value);
                }
                for (name, value) in rest {
                    match (name.as_str(), value) {
                        ("input" | "args" | "output" | "result" | "answers", value) => self.value(unwrapped(value)),
                        (_, value) => self.member(name, value),
                    }
                }
            }
            other => self.value(other),
        }
    }

    fn metadata(&mut self, metadata: &Map<String, Value>) {
        let is_said =
            |name: &str| !NOT_SAID.contains(&name) && !NOT_SAID_ENDINGS.iter().any(|ending| name.ends_with(ending));
        for (name, value) in by_name(metadata).filter(|(name, _)| is_said(name)) {
            self.separate('\n');
            self.member(name, value);
        }
    }

    fn member(&mut self, name: &str, value: &Value) {
        if !value.is_null() && !self.is_full() {
            self.push(name);
            self.0.push(':');
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        if self.is_full() {
            return;
        }
        match value {
            Value::Null => {}
            Value::String(text) if is_file(text) => {}
            Value::String(text) => self.push(text),
            Value::Bool(_) | Value::Number(_) => self.push(&value.to_string()),
            Value::Array(values) => values.iter().for_each(|value| self.value(value)),
            Value::Object(members) => by_name(members).for_each(|(name, value)| self.member(name, value)),
        }
    }

    fn push(&mut self, text: &str) {
        self.separate(' ');
        let room = SEARCH_EVENT_BYTES_MAX.saturating_sub(self.0.len());
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn separate(&mut self, by: char) {
        if !self.is_full() && !self.0.is_empty() && !self.0.ends_with([' ', '\n']) {
            self.0.push(by);
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= SEARCH_EVENT_BYTES_MAX
    }
}

/// The members of an object by their names. What leaves the index is computed again from the event, so the order must
/// not depend on how the JSON library was compiled.
fn by_name(members: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    sorted.into_iter()
}

/// The value of an output without the wrapper that says of which type it is.
fn unwrapped(output: &Value) -> &Value {
    let is_wrapper = |members: &Map<String, Value>| {
        members.len() == 2 && members.get("type").is_some_and(Value::is_string) && members.contains_key("value")
    };
    output.as_object().filter(|members| is_wrapper(members)).map_or(output, |members| &members["value"])
}

/// Whether a text is the content of a file and no words.
fn is_file(text: &str) -> bool {
    let is_data = text.starts_with("data:") && text.contains(";base64,");
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-\r\n".contains(&byte);
    is_data || (text.len() >= FILE_BYTES_MIN && text.bytes().all(is_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_events_are_searched_and_what_names_them_is_not() {
        for (kind, content, metadata, text) in [
            (
                "user.message",
                r#"[{"type":"text","text":"Refund Ines"}]"#,
                r#"{"author":{"name":"Ada"}}"#,
                "Refund Ines",
            ),
            (
                "agent.tool_call",
                r#"[{"type":"tool-call","toolCallId":"c1","input":{"query":"a b","limit":3},"toolName":"search_repo"}]"#,
                r#"{"usage":{"model":"m"}}"#,
                // Members come in the order of their names.
                "search_repo limit: 3 query: a b",
            ),
            (
                "agent.tool_result",
                r#"[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"x.rs\ny.rs"}}]"#,
                "{}",
                "ls x.rs\ny.rs",
            ),
            (
                "session.error",
                r#"[{"type":"text","text":"token expired"}]"#,
                r#"{"code":"E0277","attempt":2,"sessionId":"s","nested":{"id":"x1"}}"#,
                "token expired\ncode: E0277\nnested: id: x1",
            ),
            (
                "tool.invocation_failed",
                "[]",
                r#"{"toolCallId":"c","toolName":"curl","error":["ECONNRESET",true,null]}"#,
                "error: ECONNRESET true\ntoolName: curl",
            ),
            ("human.marker", r#"[{"type":"text","text":"look here"}]"#, r#"{"at":"x"}"#, "look here"),
            ("human.navigate", "[]", r#"{"pathname":"/secret"}"#, ""),
            ("session.context_injected", r#"[{"type":"text","text":"secret"}]"#, "{}", ""),
            ("user.message", "[]", "{}", ""),
            ("user.message", "no JSON", "neither", ""),
        ] {
            assert_eq!(searched_text(kind, content, metadata), text, "{kind}");
        }
    }

    #[test]
    fn in_its_own_log_an_event_has_its_sentence_too() {
        let change = r#"{"from":"pending","to":"running","reason":"claimed"}"#;
        assert_eq!(logged_text("session.status_change", "[]", change), "started");
        assert_eq!(logged_text("human.navigate", "[]", r#"{"pathname":"/actions","at":"…"}"#), "Went to /actions");
        let said = r#"[{"type":"text","text":"Refund Ines"}]"#;
        assert_eq!(logged_text("user.message", said, "{}"), "Refund Ines");
        assert_eq!(logged_text("user.form_draft", said, "{}"), "Refund Ines");
        assert_eq!(logged_text("session.status_change", "[]", "{}"), "");
    }

    #[test]
    fn files_are_no_words() {
        let file = "A1b2".repeat(60);
        let content = serde_json::json!([
            { "type": "file", "data": "words", "filename": "plan.pdf" },
            { "type": "tool-result", "output": { "png": file, "url": "data:image/png;base64,AAAA", "note": "seen" } },
        ]);
        assert_eq!(
            searched_text("agent.message", &content.to_string(), "{}"),
            "filename: plan.pdf\nnote: seen png: url:"
        );
    }

    #[test]
    fn a_long_text_is_searched_up_to_its_limit() {
        let content =
            serde_json::json!([{ "type": "text", "text": "é ".repeat(SEARCH_EVENT_BYTES_MAX) }, { "text": "end" }]);
        let text = searched_text("agent.message", &content.to_string(), "{}");
        assert!(text.len() <= SEARCH_EVENT_BYTES_MAX && text.len() > SEARCH_EVENT_BYTES_MAX - 4, "{}", text.len());
        assert!(!text.contains("end"));
    }
}
