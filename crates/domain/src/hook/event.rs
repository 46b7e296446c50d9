//! Builds the event that is recorded for a hook.

use super::{
    payload::Payload,
    prompt::without_injected,
    source::Source,
    text::{one_line, sentence},
    truncate::{truncate_text, truncate_value},
};
use crate::{
    event::{Known, PartType},
    limit::EVENT_BYTES_MAX,
};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Largest content of an event made from a hook, bytes.
const CONTENT_BYTES_MAX: usize = EVENT_BYTES_MAX / 4 * 3;
/// Largest value of a field that is only copied to the metadata, bytes.
const KEPT_BYTES_MAX: usize = EVENT_BYTES_MAX / 8;
/// Bytes reserved for the JSON around the content and the copied fields.
const ENVELOPE_BYTES: usize = 4 * 1024;
/// Longest id from an agent that is used as it is, characters. A longer id is replaced by its digest.
const ID_CHARS_MAX: usize = 100;
/// Fields that are not copied to the event's metadata, because the session stores them or they name the event.
const OF_THE_SESSION: [&str; 3] = ["session_id", "hook_event_name", "transcript_path"];

/// The event that is recorded for a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEvent {
    /// Kind of the event.
    pub kind: Known,
    /// Content: the text of a JSON array of parts.
    pub content: String,
    /// Metadata: the text of a JSON object with `source`, `hook`, and in `fields` the payload's other fields.
    /// `cut` is true if a value was truncated.
    pub metadata: String,
}

/// Builds the event of one hook.
pub(super) struct EventBuilder<'a> {
    source: Source,
    payload: &'a Payload<'a>,
    /// Fields of the payload that the content holds, so the metadata leaves them out.
    without: Vec<&'static str>,
    /// Further members of the metadata: an object, or null.
    more: Value,
    /// Whether a value of the content was truncated.
    is_cut: bool,
}

impl<'a> EventBuilder<'a> {
    /// A builder of an event whose metadata has all fields of the payload.
    pub(super) const fn new(source: Source, payload: &'a Payload<'a>) -> Self {
        Self { source, payload, without: Vec::new(), more: Value::Null, is_cut: false }
    }

    /// Leaves fields of the payload out of the metadata, because the content holds them.
    pub(super) fn without(mut self, fields: &[&'static str]) -> Self {
        self.without.extend_from_slice(fields);
        self
    }

    /// Adds the members of an object to the metadata.
    pub(super) fn with(self, more: Value) -> Self {
        Self { more, ..self }
    }

    /// The event of a tool call. Its part has the call's id, by which the transcript pairs it with the result.
    pub(super) fn call(mut self) -> HookEvent {
        let (input, is_cut) = fitting(self.payload.raw("tool_input"));
        self.is_cut = is_cut;
        let part = ToolPart { input: Some(input), ..self.part(PartType::ToolCall) };
        self.without(&["tool_input", "tool_name", "tool_use_id"]).build(Known::AgentToolCall, json_text(&[part]))
    }

    /// The event of a tool's result. The tool's input is recorded with the call only.
    pub(super) fn answer(mut self) -> HookEvent {
        let failed = self.payload.event == "PostToolUseFailure";
        let (output, is_cut) = if failed {
            let error = self.payload.text("error").unwrap_or_else(|| "failed".into());
            let (error, is_cut) = truncate_text(&error, CONTENT_BYTES_MAX);
            (raw_of(&json!({ "type": "error-text", "value": error })), is_cut)
        } else {
            fitting(self.payload.raw("tool_response").or_else(|| self.payload.raw("tool_output")))
        };
        self.is_cut = is_cut;
        let part = ToolPart { output: Some(output), ..self.part(PartType::ToolResult) };
        let error: &[&str] = if failed { &["error"] } else { &[] };
        self.without(&["tool_input", "tool_name", "tool_use_id", "tool_response", "tool_output"])
            .without(error)
            .build(Known::AgentToolResult, json_text(&[part]))
    }

    /// The event of a text.
    pub(super) fn text(mut self, kind: Known, text: &str) -> HookEvent {
        let (text, is_cut) = truncate_text(text, CONTENT_BYTES_MAX);
        self.is_cut = is_cut;
        self.build(kind, text_part(&text))
    }

    /// The event of a turn that ended with an error of the model's service.
    pub(super) fn failed(self) -> HookEvent {
        let payload = self.payload;
        let code = payload.text("error").or_else(|| payload.text("error_type"));
        let text =
            payload.text("last_assistant_message").or_else(|| payload.text("error_details")).or_else(|| code.clone());
        let text = text.unwrap_or_else(|| "the turn ended with an error".into());
        self.without(&["last_assistant_message"]).with(json!({ "code": code })).text(Known::SessionError, &text)
    }

    /// The event of a hook that is only recorded as a sentence.
    pub(super) fn sentence(self) -> HookEvent {
        let content = text_part(&sentence(self.payload));
        self.build(Known::ExternalEvent, content)
    }

    fn build(self, kind: Known, content: String) -> HookEvent {
        HookEvent { kind, content, metadata: self.metadata() }
    }

    /// The part of a call or result, without input and output.
    fn part(&self, part: PartType) -> ToolPart {
        let kind = part.as_str();
        let tool_call_id = tool_use_id(self.source, self.payload);
        ToolPart { kind, tool_call_id, tool_name: tool_name(self.payload), input: None, output: None }
    }

    /// The metadata: the event's origin, and every field of the payload that the content does not hold.
    fn metadata(&self) -> String {
        let skipped: Vec<&str> = OF_THE_SESSION.iter().chain(&self.without).copied().collect();
        let (mut fields, mut is_cut) = (BTreeMap::new(), self.is_cut);
        let mut left = EVENT_BYTES_MAX - CONTENT_BYTES_MAX - ENVELOPE_BYTES;
        for (name, raw) in self.payload.rest(&skipped) {
            let own = without_injected(&self.payload.event, name, raw);
            let (kept, was_cut) = truncate_value(&own, KEPT_BYTES_MAX.min(left));
            let size = kept.get().len() + name.len() * 6 + 8;
            is_cut |= was_cut || size > left;
            if size <= left {
                left -= size;
                fields.insert(name, kept);
            }
        }
        let mut object = BTreeMap::from([
            ("source", raw_of(&self.source.as_str().into())),
            ("hook", raw_of(&self.payload.event.as_str().into())),
        ]);
        if let Value::Object(members) = &self.more {
            for (name, member) in members {
                object.insert(name, raw_of(member));
            }
        }
        if is_cut {
            object.insert("cut", raw_of(&true.into()));
        }
        if !fields.is_empty() {
            let fields = RawValue::from_string(json_text(&fields)).unwrap_or_else(|_| RawValue::NULL.to_owned());
            object.insert("fields", fields);
        }
        json_text(&object)
    }
}

fn text_part(text: &str) -> String {
    json!([{ "type": "text", "text": text }]).to_string()
}

/// A content part of a tool call or of its result, in the format of the AI SDK.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolPart {
    #[serde(rename = "type")]
    kind: &'static str,
    tool_call_id: String,
    tool_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
}

/// Returns a value of the payload byte for byte as it was sent, or truncated if it is too large for an event,
/// and whether it was truncated.
fn fitting(raw: Option<&RawValue>) -> (Box<RawValue>, bool) {
    raw.map_or_else(|| (RawValue::NULL.to_owned(), false), |raw| truncate_value(raw, CONTENT_BYTES_MAX))
}

fn raw_of(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns the value as JSON. Serialisation fails only for map keys that are not text and for failing writers,
/// and neither occurs here.
fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "[]".into())
}

pub(super) fn tool_name(payload: &Payload<'_>) -> String {
    payload.text("tool_name").map_or_else(|| "tool".into(), |name| one_line(&name))
}

/// Returns the id by which the transcript pairs a call with its result. Gemini CLI has none: a call and its result have
/// the same tool and the same input.
fn tool_use_id(source: Source, payload: &Payload<'_>) -> String {
    let known = payload.text("tool_use_id").map(id_part);
    known.unwrap_or_else(|| match source {
        Source::Gemini => {
            digest(&format!("{}\n{}", tool_name(payload), payload.raw("tool_input").map_or("", RawValue::get)))
        }
        Source::ClaudeCode | Source::Codex | Source::OpenCode | Source::Pi | Source::OpenClaw => String::new(),
    })
}

pub(super) fn id_part(id: String) -> String {
    if id.chars().count() <= ID_CHARS_MAX && !id.chars().any(char::is_control) { id } else { digest(&id) }
}

/// Returns the first 32 hexadecimal characters of the text's SHA-256.
pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
