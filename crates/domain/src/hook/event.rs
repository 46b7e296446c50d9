//! Builds the event that is recorded for a hook.

use super::{
    payload::Payload,
    prompt::without_injected,
    source::Source,
    text::{one_line, sentence},
    truncate::{truncate_text, truncate_value},
};
use crate::{event::Known, limit::EVENT_BYTES_MAX};
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

/// Returns the event of a tool call. Its part has the call's id, by which the transcript pairs it with the
/// result.
pub(super) fn call(source: Source, payload: &Payload<'_>) -> HookEvent {
    let (input, cut) = fitting(payload.raw("tool_input"));
    let part = ToolPart {
        kind: "tool-call",
        tool_call_id: tool_use_id(source, payload),
        tool_name: tool_name(payload),
        input: Some(input),
        output: None,
    };
    HookEvent {
        kind: Known::AgentToolCall,
        content: json_text(&[part]),
        metadata: metadata(source, payload, &["tool_input", "tool_name", "tool_use_id"], cut, Value::Null),
    }
}

/// Returns the event of a tool's result. The tool's input is recorded with the call only.
pub(super) fn answer(source: Source, payload: &Payload<'_>) -> HookEvent {
    let failed = payload.event == "PostToolUseFailure";
    let (output, cut) = if failed {
        let (error, cut) = truncate_text(&payload.text("error").unwrap_or_else(|| "failed".into()), CONTENT_BYTES_MAX);
        (raw_of(&json!({ "type": "error-text", "value": error })), cut)
    } else {
        fitting(payload.raw("tool_response").or_else(|| payload.raw("tool_output")))
    };
    let part = ToolPart {
        kind: "tool-result",
        tool_call_id: tool_use_id(source, payload),
        tool_name: tool_name(payload),
        input: None,
        output: Some(output),
    };
    let mut without = vec!["tool_input", "tool_name", "tool_use_id", "tool_response", "tool_output"];
    if failed {
        without.push("error");
    }
    HookEvent {
        kind: Known::AgentToolResult,
        content: json_text(&[part]),
        metadata: metadata(source, payload, &without, cut, Value::Null),
    }
}

/// Returns the event of a message. `field` is the payload's field with the text `said`, which is not copied to
/// the metadata.
pub(super) fn message_event(
    source: Source,
    payload: &Payload<'_>,
    kind: Known,
    said: &str,
    field: &'static str,
) -> HookEvent {
    message_event_with(source, payload, (kind, said, field), Value::Null)
}

/// Returns the same with further metadata.
pub(super) fn message_event_with(
    source: Source,
    payload: &Payload<'_>,
    (kind, said, field): (Known, &str, &'static str),
    more: Value,
) -> HookEvent {
    let (text, cut) = truncate_text(said, CONTENT_BYTES_MAX);
    HookEvent { kind, content: text_part(&text), metadata: metadata(source, payload, &[field], cut, more) }
}

/// Returns the event of a turn that ended with an error of the model's service.
pub(super) fn failed(source: Source, payload: &Payload<'_>) -> HookEvent {
    let code = payload.text("error").or_else(|| payload.text("error_type"));
    let text =
        payload.text("last_assistant_message").or_else(|| payload.text("error_details")).or_else(|| code.clone());
    let (text, cut) = truncate_text(&text.unwrap_or_else(|| "the turn ended with an error".into()), CONTENT_BYTES_MAX);
    HookEvent {
        kind: Known::SessionError,
        content: text_part(&text),
        metadata: metadata(source, payload, &["last_assistant_message"], cut, json!({ "code": code })),
    }
}

pub(super) fn external_event(source: Source, payload: &Payload<'_>) -> HookEvent {
    external_event_with(source, payload, Value::Null)
}

/// Returns the event of a hook that is only recorded as a sentence. `more` holds further metadata.
pub(super) fn external_event_with(source: Source, payload: &Payload<'_>, more: Value) -> HookEvent {
    HookEvent {
        kind: Known::ExternalEvent,
        content: text_part(&sentence(payload)),
        metadata: metadata(source, payload, &[], false, more),
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

/// Returns the metadata: the event's origin, and every field of the payload that the content does not hold.
fn metadata(source: Source, payload: &Payload<'_>, without: &[&str], cut: bool, more: Value) -> String {
    let skipped: Vec<&str> = OF_THE_SESSION.iter().chain(without).copied().collect();
    let (mut fields, mut cut) = (BTreeMap::new(), cut);
    let mut left = EVENT_BYTES_MAX - CONTENT_BYTES_MAX - ENVELOPE_BYTES;
    for (name, raw) in payload.rest(&skipped) {
        let own = without_injected(&payload.event, name, raw);
        let (kept, was_cut) = truncate_value(&own, KEPT_BYTES_MAX.min(left));
        let size = kept.get().len() + name.len() * 6 + 8;
        cut |= was_cut || size > left;
        if size <= left {
            left -= size;
            fields.insert(name, kept);
        }
    }
    let mut object =
        BTreeMap::from([("source", raw_of(&source.as_str().into())), ("hook", raw_of(&payload.event.as_str().into()))]);
    if let Value::Object(members) = &more {
        for (name, member) in members {
            object.insert(name, raw_of(member));
        }
    }
    if cut {
        object.insert("cut", raw_of(&true.into()));
    }
    if !fields.is_empty() {
        let fields = RawValue::from_string(json_text(&fields)).unwrap_or_else(|_| RawValue::NULL.to_owned());
        object.insert("fields", fields);
    }
    json_text(&object)
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
