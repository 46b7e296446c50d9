//! Interprets lines of a command's output. No I/O: ids and times are set by the event queue.
//!
//! All output is kept: a line that is not a valid event is recorded as text. Only blank lines are dropped.

use super::{
    super::{
        adapter::Failure,
        event::{self, EVENT_CONTENT_BYTES_MAX, Notes, Parts, note},
    },
    Format, claude_code, codex,
    output::{Output, Parsed},
    split::Line,
};
use domain::{
    Timestamp,
    event::{Author, EventRole, Kind, may_write, normalize_content, validate_metadata},
    gate::canonical_digest,
    id::EventId,
    limit::{DOCUMENT_BYTES_MAX, KEY_CHARS_MAX},
    session::{Status, Type},
};
use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;
use wire::{Json, event::NewEvent, feedback_request::AskFeedback};

/// Why a line that is cut into parts is no event.
const TOO_LONG: &str = "the line is too long to be read as JSON";

/// The fields of a JSON object, each value as it was printed.
type Fields = BTreeMap<String, Box<RawValue>>;

/// The pipe that is read and its format.
#[derive(Debug)]
enum Syntax {
    Stderr,
    Lines,
    ClaudeCode(claude_code::Parser),
    Codex(codex::Parser),
}

/// Interprets the lines of one pipe.
#[derive(Debug)]
pub struct LineParser {
    syntax: Syntax,
    parts: Parts,
    /// Number of the current line, from 1.
    number: u64,
}

impl LineParser {
    /// A parser for standard output in this format.
    pub fn for_stdout(format: Format) -> Self {
        let syntax = match format {
            Format::Lines => Syntax::Lines,
            Format::ClaudeCode => Syntax::ClaudeCode(claude_code::Parser::default()),
            Format::Codex => Syntax::Codex(codex::Parser::default()),
        };
        Self { syntax, parts: Parts::default(), number: 0 }
    }

    /// A parser for standard error.
    pub fn for_stderr() -> Self {
        Self { syntax: Syntax::Stderr, parts: Parts::default(), number: 0 }
    }

    /// Interprets the next line, or part of an over-long line.
    pub fn read(&mut self, line: &Line) -> Vec<Parsed> {
        let text = String::from_utf8_lossy(&line.bytes);
        self.number += u64::from(line.begins);
        let whole = line.begins && line.ends;
        if whole && text.trim().is_empty() {
            return Vec::new();
        }
        let mut notes = Notes::new();
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.insert("invalidUtf8".into(), true.into());
        }
        let mut lost = None;
        let mut refused = None;
        let mut kind = "agent.message";
        match &mut self.syntax {
            Syntax::Stderr => {
                kind = "external.event";
                notes.insert("stream".into(), "stderr".into());
            }
            Syntax::Lines => match interpret(&text, line) {
                LineMeaning::Event(event) => return vec![Parsed::Event(event)],
                LineMeaning::Result(output) => return vec![Parsed::Result(output)],
                LineMeaning::Ask(ask) => return vec![Parsed::Ask(ask)],
                LineMeaning::LostResult(why) => lost = Some(Failure::new("result_refused", why)),
                LineMeaning::NoEvent(why) => refused = Some(why),
                LineMeaning::Text => {}
            },
            // Output of a coding agent outside of its format is diagnostics, not its reply.
            Syntax::ClaudeCode(parser) => match parsed(&text, line) {
                Ok(json) => return parser.read(json),
                Err(why) => (kind, refused) = ("external.event", why),
            },
            Syntax::Codex(parser) => match parsed(&text, line) {
                Ok(json) => return parser.read(json),
                Err(why) => (kind, refused) = ("external.event", why),
            },
        }
        if let Some(why) = refused {
            notes.insert("notAnEvent".into(), why.into());
            notes.insert("line".into(), self.number.into());
        }
        let texts = self.parts.write(kind, &text, (line.begins, line.ends), &notes);
        let mut parsed: Vec<_> = texts.into_iter().map(Parsed::Event).collect();
        if lost.is_some() {
            parsed.push(Parsed::Result(Output { failure: lost, ..Output::default() }));
        }
        parsed
    }
}

/// The JSON object on a whole line; an error if there is none, with the reason if the line begins like one.
fn parsed(text: &str, line: &Line) -> Result<Value, Option<String>> {
    let why = if line.begins && line.ends {
        match serde_json::from_str::<Value>(text) {
            Ok(json) if json.is_object() => return Ok(json),
            Ok(_) => return Err(None),
            Err(error) => not_json(&error),
        }
    } else {
        TOO_LONG.to_owned()
    };
    Err(begins_like_object(text, line).then_some(why))
}

fn begins_like_object(text: &str, line: &Line) -> bool {
    line.begins && text.trim_start().starts_with('{')
}

/// A request that people do not get, as text: the command failed afterwards, or made another one for which it waits. It
/// is no message of the agent, which would count as its reply.
pub fn unasked(ask: &AskFeedback) -> Vec<NewEvent> {
    let text = serde_json::to_string(ask).unwrap_or_else(|_| ask.message.clone());
    event::texts("external.event", &text, &note("unasked", true))
}

/// The result of a command that failed afterwards or asks people, as text: it is not the session's result.
pub fn unused_result(output: &Output) -> Vec<NewEvent> {
    let text = json!({ "type": "result", "result": output.result, "usage": output.usage }).to_string();
    event::texts("agent.message", &text, &note("unusedResult", true))
}

enum LineMeaning {
    Event(NewEvent),
    Result(Output),
    Ask(Box<AskFeedback>),
    /// A result that cannot be used, and why.
    LostResult(String),
    /// An event that is not valid, or a line that begins like a JSON object and is not one, and why.
    NoEvent(String),
    Text,
}

fn interpret(text: &str, line: &Line) -> LineMeaning {
    if !begins_like_object(text, line) {
        return LineMeaning::Text;
    }
    if !line.ends {
        // Too long to be parsed. An over-long result is recognised by its beginning, so that it fails the session.
        return if announces_result(text) {
            LineMeaning::LostResult("the result line is too long".into())
        } else {
            LineMeaning::NoEvent(TOO_LONG.into())
        };
    }
    let mut fields = match serde_json::from_str::<Fields>(text) {
        Ok(fields) => fields,
        Err(error) => return LineMeaning::NoEvent(not_json(&error)),
    };
    match fields.remove("type").map(|raw| serde_json::from_str::<String>(raw.get())) {
        Some(Ok(kind)) if kind == "result" => result(fields),
        Some(Ok(kind)) if kind == "request_feedback" => asked(fields),
        Some(Ok(kind)) => event_of(&kind, fields).map_or_else(LineMeaning::NoEvent, LineMeaning::Event),
        Some(Err(_)) | None => LineMeaning::Text,
    }
}

/// Position and reason of a JSON error. The line number of the error is dropped: only one line was parsed.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("not valid JSON at column {}: {what}", error.column())
}

fn announces_result(text: &str) -> bool {
    let head: String = text.chars().take(100).filter(|c| !c.is_whitespace()).collect();
    head.starts_with(r#"{"type":"result""#)
}

/// A result line: the field `result` if it is alone or with `usage`, else all other fields as one object.
fn result(mut fields: Fields) -> LineMeaning {
    let usage = match fields.get("usage") {
        Some(usage) if usage.get().starts_with('{') => fields.remove("usage"),
        _ => None,
    };
    let result = match (fields.len(), fields.remove("result")) {
        (0, _) => None,
        (1, Some(result)) => Some(result),
        (_, taken) => {
            fields.extend(taken.map(|result| ("result".to_owned(), result)));
            object(&fields)
        }
    };
    if [&result, &usage].into_iter().flatten().any(|json| json.get().len() > DOCUMENT_BYTES_MAX) {
        return LineMeaning::LostResult(format!("the result or its usage is larger than {DOCUMENT_BYTES_MAX} bytes"));
    }
    LineMeaning::Result(Output { result, usage, failure: None })
}

/// A request to people: its fields are those of the API. Without a key of its own, its text is the key, so that a
/// command that asks the same again makes no second request.
fn asked(mut fields: Fields) -> LineMeaning {
    let key = || Some(canonical_digest(&serde_json::from_str(object(&fields)?.get()).ok()?).to_string());
    let Some(key) = key() else { return LineMeaning::NoEvent("its fields cannot be written as JSON".into()) };
    fields.entry("idempotencyKey".into()).or_insert_with(|| raw(&key));
    fields.insert("attempt".into(), raw(&0));
    let parsed = object(&fields).map(|json| serde_json::from_str::<AskFeedback>(json.get()));
    match parsed {
        Some(Ok(ask)) => LineMeaning::Ask(Box::new(ask)),
        Some(Err(error)) => LineMeaning::NoEvent(error.to_string()),
        None => LineMeaning::NoEvent("its fields cannot be written as JSON".into()),
    }
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn event_of(kind: &str, mut fields: Fields) -> Result<NewEvent, String> {
    fields.retain(|_, value| value.get() != "null");
    let kind = Kind::parse(kind).map_err(|error| error.to_string())?;
    may_write(Author::Worker, Type::Agent, Status::Running, &kind).map_err(|error| error.to_string())?;

    let own_id = text_field(&mut fields, "id")?;
    let mut external_event_id = text_field(&mut fields, "externalEventId")?;
    let id: Option<EventId> = own_id.as_deref().and_then(|id| id.parse().ok());
    if id.is_none() && own_id.is_some() {
        // An id that is not ours becomes the external id.
        if external_event_id.is_some() {
            return Err("id is not a UUID".into());
        }
        external_event_id = own_id;
    }
    let thread_id = text_field(&mut fields, "threadId")?;
    for key in [&external_event_id, &thread_id].into_iter().flatten() {
        if key.chars().count() > KEY_CHARS_MAX {
            return Err(format!("an id has more than {KEY_CHARS_MAX} characters"));
        }
    }
    let role = typed_field::<EventRole>(&mut fields, "role", "user, agent or system")?;
    let at = typed_field::<Timestamp>(&mut fields, "at", "an RFC 3339 time")?;
    let content = fields.remove("content");
    if let Some(content) = &content {
        normalize_content(content).map_err(|error| error.to_string())?;
    }
    let metadata = fields.remove("metadata");
    if let Some(metadata) = &metadata {
        validate_metadata(metadata).map_err(|error| error.to_string())?;
    }
    let metadata = if fields.is_empty() { metadata } else { Some(with_extra(metadata.as_deref(), &fields)?) };

    let event =
        NewEvent { id, kind: kind.as_str().to_owned(), role, content, metadata, thread_id, external_event_id, at };
    if event::size(&event) > EVENT_CONTENT_BYTES_MAX {
        return Err(format!("content and metadata take more than {EVENT_CONTENT_BYTES_MAX} bytes"));
    }
    Ok(event)
}

/// Metadata with the unknown fields of a line under `extra`.
fn with_extra(metadata: Option<&RawValue>, extra: &Fields) -> Result<Json, String> {
    let mut merged = match metadata {
        Some(metadata) => serde_json::from_str::<Fields>(metadata.get()).map_err(|error| error.to_string())?,
        None => Fields::new(),
    };
    let extra = object(extra).ok_or("its fields cannot be written as JSON")?;
    if merged.insert("extra".into(), extra).is_some() {
        return Err("it has both unknown fields and metadata.extra".into());
    }
    object(&merged).ok_or_else(|| "its metadata cannot be written as JSON".into())
}

fn text_field(fields: &mut Fields, name: &str) -> Result<Option<String>, String> {
    typed_field(fields, name, "text")
}

fn typed_field<T: serde::de::DeserializeOwned>(
    fields: &mut Fields,
    name: &str,
    expected: &str,
) -> Result<Option<T>, String> {
    fields
        .remove(name)
        .map(|raw| serde_json::from_str(raw.get()).map_err(|_| format!("{name} is not {expected}")))
        .transpose()
}

fn object(fields: &Fields) -> Option<Json> {
    serde_json::value::to_raw_value(fields).ok()
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
