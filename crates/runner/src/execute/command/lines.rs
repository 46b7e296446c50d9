//! What a line of output says. Pure: ids and times are put in by the outbox.
//!
//! Nothing that a command prints is lost: a line that is no event, or one the API would refuse, is kept as text.
//! Only blank lines are left out.

use super::{
    super::{
        adapter::Failure,
        event::{self, Notes, Parts, ROOM, note},
    },
    Format, claude_code, codex,
    split::Line,
};
use domain::{
    Timestamp,
    event::{Author, EventRole, Kind, may_write, normalize_content, validate_metadata},
    id::EventId,
    limit::{DOCUMENT_BYTES_MAX, KEY_CHARS_MAX},
    session::{Status, Type},
};
use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;
use wire::{Json, event::NewEvent};

/// A JSON object, field by field, each value as it was printed.
type Fields = BTreeMap<String, Box<RawValue>>;

/// What a line says.
#[derive(Debug)]
pub enum Said {
    /// Append this.
    Event(NewEvent),
    /// The session's outcome; the last one counts.
    Result(Output),
}

/// What a command reports as its outcome.
#[derive(Debug, Default)]
pub struct Output {
    /// The result proper.
    pub result: Option<Json>,
    /// What it cost.
    pub usage: Option<Json>,
    /// Why there is no result, although the command may end well.
    pub failure: Option<Failure>,
}

/// Which pipe a reader reads, and what is spoken there.
#[derive(Debug)]
enum Tongue {
    Stderr,
    Lines,
    ClaudeCode(claude_code::Transcript),
    Codex(codex::Transcript),
}

/// Reads the lines of one pipe.
#[derive(Debug)]
pub struct Reader {
    tongue: Tongue,
    parts: Parts,
    /// The number of the line that is read, from 1.
    number: u64,
}

impl Reader {
    /// At the beginning of standard output.
    pub fn of_output(format: Format) -> Self {
        let tongue = match format {
            Format::Lines => Tongue::Lines,
            Format::ClaudeCode => Tongue::ClaudeCode(claude_code::Transcript::default()),
            Format::Codex => Tongue::Codex(codex::Transcript::default()),
        };
        Self { tongue, parts: Parts::default(), number: 0 }
    }

    /// At the beginning of standard error.
    pub fn of_remarks() -> Self {
        Self { tongue: Tongue::Stderr, parts: Parts::default(), number: 0 }
    }

    /// What the next line, or part of an over-long line, says.
    pub fn read(&mut self, line: &Line) -> Vec<Said> {
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
        let mut kind = "agent.message";
        match &mut self.tongue {
            Tongue::Stderr => {
                kind = "external.event";
                notes.insert("stream".into(), "stderr".into());
            }
            Tongue::Lines => match interpret(&text, line) {
                Meaning::Event(event) => return vec![Said::Event(event)],
                Meaning::Result(output) => return vec![Said::Result(output)],
                Meaning::LostResult(why) => lost = Some(Failure::new("result_refused", why)),
                Meaning::NoEvent(why) => {
                    notes.insert("notAnEvent".into(), why.into());
                    notes.insert("line".into(), self.number.into());
                }
                Meaning::Text => {}
            },
            // What a coding agent prints that is not in its format is about its own affairs, not its answer.
            Tongue::ClaudeCode(transcript) => match parsed(&text, whole) {
                Some(said) => return transcript.read(said),
                None => kind = "external.event",
            },
            Tongue::Codex(transcript) => match parsed(&text, whole) {
                Some(said) => return transcript.read(said),
                None => kind = "external.event",
            },
        }
        let texts = self.parts.write(kind, &text, (line.begins, line.ends), &notes);
        let mut said: Vec<_> = texts.into_iter().map(Said::Event).collect();
        if lost.is_some() {
            said.push(Said::Result(Output { failure: lost, ..Output::default() }));
        }
        said
    }
}

/// The object on a line, if there is one.
fn parsed(text: &str, whole: bool) -> Option<Value> {
    if whole { serde_json::from_str(text).ok().filter(Value::is_object) } else { None }
}

/// A result that was not recorded as one, because the command failed afterwards.
pub fn unused_result(output: &Output) -> Vec<NewEvent> {
    let text = json!({ "type": "result", "result": output.result, "usage": output.usage }).to_string();
    event::texts("agent.message", &text, &note("unusedResult", true))
}

enum Meaning {
    Event(NewEvent),
    Result(Output),
    /// It means to be a result and cannot be one.
    LostResult(String),
    /// It means to be an event and cannot be one, or begins like a JSON object and is none.
    NoEvent(String),
    Text,
}

fn interpret(text: &str, line: &Line) -> Meaning {
    if !line.begins || !text.trim_start().starts_with('{') {
        return Meaning::Text;
    }
    if !line.ends {
        // Too long to be read as JSON. A result must not vanish quietly, so its usual beginning is recognised.
        return if announces_result(text) {
            Meaning::LostResult("the result line is too long".into())
        } else {
            Meaning::NoEvent("the line is too long to be read as JSON".into())
        };
    }
    let mut fields = match serde_json::from_str::<Fields>(text) {
        Ok(fields) => fields,
        Err(error) => return Meaning::NoEvent(not_json(&error)),
    };
    match fields.remove("type").map(|raw| serde_json::from_str::<String>(raw.get())) {
        Some(Ok(kind)) if kind == "result" => result(fields),
        Some(Ok(kind)) => event_of(&kind, fields).map_or_else(Meaning::NoEvent, Meaning::Event),
        Some(Err(_)) | None => Meaning::Text,
    }
}

/// Where and why the line stops being JSON. The error's own line number is of the one line that was parsed.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("not valid JSON at column {}: {what}", error.column())
}

fn announces_result(text: &str) -> bool {
    let head: String = text.chars().take(100).filter(|c| !c.is_whitespace()).collect();
    head.starts_with(r#"{"type":"result""#)
}

/// `result` where it is the only other field, else all other fields together.
fn result(mut fields: Fields) -> Meaning {
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
        return Meaning::LostResult(format!("the result or its usage is larger than {DOCUMENT_BYTES_MAX} bytes"));
    }
    Meaning::Result(Output { result, usage, failure: None })
}

fn event_of(kind: &str, mut fields: Fields) -> Result<NewEvent, String> {
    fields.retain(|_, value| value.get() != "null");
    let kind = Kind::parse(kind).map_err(|error| error.to_string())?;
    may_write(Author::Worker, Type::Agent, Status::Running, &kind).map_err(|error| error.to_string())?;

    let mut id = text_field(&mut fields, "id")?;
    let mut external_event_id = text_field(&mut fields, "externalEventId")?;
    if let Some(foreign) = id.take_if(|id| id.parse::<EventId>().is_err()) {
        // Many agents number their events in ways of their own; that is what the external id is for.
        if external_event_id.is_some() {
            return Err("id is not a UUID".into());
        }
        external_event_id = Some(foreign);
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
    if event::size(&event) > ROOM {
        return Err(format!("content and metadata take more than {ROOM} bytes"));
    }
    Ok(event)
}

/// Fields that an event does not have are kept in its metadata, under `extra`.
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
