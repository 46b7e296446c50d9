//! What a line of output says. Pure: ids and times are put in by the outbox.
//!
//! Nothing that a command prints is lost: a line that is no event, or one the API would refuse, is kept as text.
//! Only blank lines are left out.

use super::{limit::ENVELOPE_BYTES, split::Line};
use domain::{
    Timestamp,
    event::{Author, EventRole, Kind, may_write, normalize_content, validate_metadata},
    id::EventId,
    limit::{DOCUMENT_BYTES_MAX, EVENT_BYTES_MAX, KEY_CHARS_MAX},
    session::{Status, Type},
};
use serde_json::{Map, Value, json, value::RawValue};
use std::collections::BTreeMap;
use wire::{Json, event::NewEvent};

/// A JSON object, field by field, each value as it was printed.
type Fields = BTreeMap<String, Box<RawValue>>;

/// Which pipe a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Events, results, and text of the agent.
    Stdout,
    /// Text beside the work.
    Stderr,
}

/// What a line says.
#[derive(Debug)]
pub enum Said {
    /// Append this.
    Event(NewEvent),
    /// The session's result; the last one counts.
    Result(Outcome),
}

/// What a `{"type":"result"}` line reports.
#[derive(Debug)]
pub struct Outcome {
    /// The result proper.
    pub result: Option<Json>,
    /// What it cost.
    pub usage: Option<Json>,
    /// Why it cannot be recorded as a result; it has been kept as text.
    pub refused: Option<String>,
}

/// Reads the lines of one pipe.
#[derive(Debug)]
pub struct Reader {
    stream: Stream,
    part: u32,
}

impl Reader {
    /// At the beginning of a pipe.
    pub const fn new(stream: Stream) -> Self {
        Self { stream, part: 0 }
    }

    /// What the next line, or part of an over-long line, says.
    pub fn read(&mut self, line: &Line) -> Vec<Said> {
        let text = String::from_utf8_lossy(&line.bytes);
        let whole = line.begins && line.ends;
        if whole && text.trim().is_empty() {
            return Vec::new();
        }
        let mut notes = Map::new();
        if self.stream == Stream::Stderr {
            notes.insert("stream".into(), "stderr".into());
        }
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.insert("invalidUtf8".into(), true.into());
        }
        let mut refused = None;
        if self.stream == Stream::Stdout {
            match interpret(&text, line) {
                Meaning::Event(event) => return vec![Said::Event(event)],
                Meaning::Result(outcome) => return vec![Said::Result(outcome)],
                Meaning::LostResult(why) => refused = Some(why),
                Meaning::NoEvent(why) => drop(notes.insert("notAnEvent".into(), why.into())),
                Meaning::Text => {}
            }
        }
        let mut said: Vec<_> = self.text(&text, line, notes).into_iter().map(Said::Event).collect();
        if refused.is_some() {
            said.push(Said::Result(Outcome { result: None, usage: None, refused }));
        }
        said
    }

    /// Text as one event, or as several numbered parts where one cannot hold it.
    fn text(&mut self, text: &str, line: &Line, notes: Map<String, Value>) -> Vec<NewEvent> {
        if line.begins {
            self.part = 0;
        }
        let kind = match self.stream {
            Stream::Stdout => "agent.message",
            Stream::Stderr => "external.event",
        };
        let mut events = Vec::new();
        let mut rest = text;
        loop {
            let (head, tail) = rest.split_at(fitting(rest, EVENT_BYTES_MAX - ENVELOPE_BYTES));
            let last = tail.is_empty() && line.ends;
            let mut metadata = notes.clone();
            if self.part > 0 || !last {
                self.part += 1;
                metadata.insert("part".into(), self.part.into());
                metadata.insert("lastPart".into(), last.into());
            }
            events.push(message(kind, head, metadata));
            if tail.is_empty() {
                return events;
            }
            rest = tail;
        }
    }
}

/// An event that the API refused, as text with the reason.
pub fn as_text(event: &NewEvent, reason: &str) -> Vec<NewEvent> {
    let text = serde_json::to_string(event).unwrap_or_default();
    let line = Line { bytes: Vec::new(), begins: true, ends: true };
    let notes = Map::from_iter([("notAnEvent".to_owned(), Value::from(shortened(reason)))]);
    Reader::new(Stream::Stdout).text(&text, &line, notes)
}

/// A result that was not recorded as one, because the command failed afterwards.
pub fn unused_result(outcome: &Outcome) -> Vec<NewEvent> {
    let text = json!({ "type": "result", "result": outcome.result, "usage": outcome.usage }).to_string();
    let line = Line { bytes: Vec::new(), begins: true, ends: true };
    let notes = Map::from_iter([("unusedResult".to_owned(), Value::from(true))]);
    Reader::new(Stream::Stdout).text(&text, &line, notes)
}

/// Bytes of an event that count towards the API's limits.
pub fn size(event: &NewEvent) -> usize {
    [&event.content, &event.metadata].into_iter().flatten().map(|json| json.get().len()).sum()
}

enum Meaning {
    Event(NewEvent),
    Result(Outcome),
    /// It means to be a result and cannot be one.
    LostResult(String),
    /// It means to be an event and cannot be one.
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
            Meaning::Text
        };
    }
    let Ok(mut fields) = serde_json::from_str::<Fields>(text) else { return Meaning::Text };
    match fields.remove("type").map(|raw| serde_json::from_str::<String>(raw.get())) {
        Some(Ok(kind)) if kind == "result" => result(fields),
        Some(Ok(kind)) => event(&kind, fields).map_or_else(Meaning::NoEvent, Meaning::Event),
        Some(Err(_)) | None => Meaning::Text,
    }
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
    Meaning::Result(Outcome { result, usage, refused: None })
}

fn event(kind: &str, mut fields: Fields) -> Result<NewEvent, String> {
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
    if size(&event) > EVENT_BYTES_MAX - ENVELOPE_BYTES {
        return Err(format!("content and metadata take more than {} bytes", EVENT_BYTES_MAX - ENVELOPE_BYTES));
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

#[derive(serde::Serialize)]
struct TextPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

fn message(kind: &str, text: &str, metadata: Map<String, Value>) -> NewEvent {
    NewEvent {
        id: None,
        kind: kind.to_owned(),
        role: None,
        content: serde_json::value::to_raw_value(&[TextPart { kind: "text", text }]).ok(),
        metadata: if metadata.is_empty() { None } else { serde_json::value::to_raw_value(&metadata).ok() },
        thread_id: None,
        external_event_id: None,
        at: None,
    }
}

fn object(fields: &Fields) -> Option<Json> {
    serde_json::value::to_raw_value(fields).ok()
}

fn shortened(reason: &str) -> String {
    reason.chars().take(200).collect()
}

/// How many bytes of `text` fit into `room` bytes once they are written as a JSON string.
fn fitting(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => c.len_utf8(),
        };
        if used > room {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
