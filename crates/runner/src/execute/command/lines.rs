//! Interprets lines of a command's output. No I/O: ids and times are set by the event queue.
//!
//! All output is kept: a line that is not a valid event is recorded as text. Only blank lines are dropped. What is not
//! quite text or JSON is [repaired](domain::decoding), with a warning. A line with a result that cannot be read fails
//! the session.

use super::{
    super::{
        adapter::Failure,
        event::{self, EVENT_CONTENT_BYTES_MAX, Parts},
        limit::{AGENT_LINE_BYTES_MAX, LINE_BYTES_MAX, REPAIR_WARNINGS_MAX},
        notes::Notes,
    },
    Format, claude_code, codex,
    output::{Output, Parsed},
    split::Line,
    torn::top_level_type,
    whole::Whole,
};
use domain::{
    Timestamp,
    decoding::{Repair, What, decode_line, describe, read_json},
    event::Known,
    event::{Author, EventRole, Kind, may_write, normalize_content, validate_metadata},
    gate::canonical_digest,
    id::{EventId, InvalidId, SessionId},
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
    Codex(Box<codex::Parser>),
    Whole(Whole),
}

/// Interprets the lines of one pipe.
#[derive(Debug)]
pub struct LineParser {
    syntax: Syntax,
    parts: Parts,
    /// Number of the current line, from 1.
    number: u64,
    /// Number of the next character of the current line, from 1.
    column: u64,
    /// Warnings about repairs so far.
    warnings: u32,
}

impl LineParser {
    /// A parser for standard output in this format.
    pub fn for_stdout(format: Format) -> Self {
        Self::of(match format {
            Format::Lines => Syntax::Lines,
            Format::ClaudeCode => Syntax::ClaudeCode(claude_code::Parser::default()),
            Format::Codex => Syntax::Codex(Box::default()),
            Format::Result => Syntax::Whole(Whole::default()),
        })
    }

    /// A parser for standard error.
    pub fn for_stderr() -> Self {
        Self::of(Syntax::Stderr)
    }

    fn of(syntax: Syntax) -> Self {
        Self { syntax, parts: Parts::default(), number: 0, column: 1, warnings: 0 }
    }

    /// Longest line that this parser reads whole, bytes.
    pub const fn line_bytes_max(&self) -> usize {
        match self.syntax {
            Syntax::Stderr | Syntax::Lines | Syntax::Whole(_) => LINE_BYTES_MAX,
            Syntax::ClaudeCode(_) | Syntax::Codex(_) => AGENT_LINE_BYTES_MAX,
        }
    }

    /// Interprets the next line, or part of an over-long line. `is_utf16` says that the output was converted.
    pub fn read(&mut self, line: &Line, is_utf16: bool) -> Vec<Parsed> {
        if let Syntax::Whole(whole) = &mut self.syntax {
            return whole.push(line).into_iter().map(Parsed::Progress).collect();
        }
        if line.begins {
            self.number += 1;
            self.column = 1;
        }
        let (text, mut repairs) = decode_line(&line.bytes, (self.number, self.column));
        self.column += text.chars().count() as u64;
        if is_utf16 && self.number == 1 && line.begins {
            repairs.retain(|repair| repair.what != What::ByteOrderMark);
            repairs.insert(0, Repair { line: 1, column: 1, what: What::Utf16 });
        }
        let mut parsed = Vec::new();
        if !(line.begins && line.ends && text.trim().is_empty()) {
            match self.interpret(&text, line) {
                Interpreted::Read(read, more) => {
                    repairs.extend(more.into_iter().map(|repair| Repair { line: self.number, ..repair }));
                    parsed = read;
                }
                Interpreted::Text(about) => parsed = self.text(&text, line, about, &mut repairs),
            }
        }
        parsed.extend(self.warn(&repairs).into_iter().map(Parsed::Event));
        parsed
    }

    /// The outcome at the end of the output, if only the whole output has one.
    pub fn finish(&mut self) -> Option<Output> {
        match &mut self.syntax {
            Syntax::Whole(whole) => Some(whole.finish()),
            Syntax::Stderr | Syntax::Lines | Syntax::ClaudeCode(_) | Syntax::Codex(_) => None,
        }
    }

    fn interpret(&mut self, text: &str, line: &Line) -> Interpreted {
        // Output of a coding agent outside of its format is diagnostics, not its reply.
        let diagnostics = |why, lost| Interpreted::Text(AboutText { kind: Known::ExternalEvent.as_str(), why, lost });
        match &mut self.syntax {
            Syntax::Stderr | Syntax::Whole(_) => diagnostics(None, None),
            Syntax::Lines => interpret(text, line),
            Syntax::ClaudeCode(parser) => match parsed(text, line) {
                Ok((json, repairs)) => Interpreted::Read(parser.read(json), repairs),
                Err(why) => {
                    let lost = why.as_deref().filter(|_| is_of_type(text, line, &["result"])).map(lost);
                    diagnostics(why, lost.map(|failure| Output { failure: Some(failure), ..Output::default() }))
                }
            },
            Syntax::Codex(parser) => match parsed(text, line) {
                Ok((json, repairs)) => Interpreted::Read(parser.read(json), repairs),
                Err(why) => {
                    let is_end = is_of_type(text, line, &["turn.completed", "turn.failed"]);
                    let is_message = is_of_type(text, line, &["item.completed"]) && text.contains("\"agent_message\"");
                    let lost = why.as_deref().filter(|_| is_end || is_message).map(lost);
                    diagnostics(why, lost.map(|failure| parser.lose(failure)))
                }
            },
        }
    }

    /// The events of a line that is kept as text.
    fn text(&mut self, text: &str, line: &Line, about: AboutText, repairs: &mut Vec<Repair>) -> Vec<Parsed> {
        let mut notes = Notes::default();
        // The note is the warning.
        let bytes: Vec<_> = repairs.extract_if(.., |repair| repair.what == What::Bytes).collect();
        if let [first, more @ ..] = &bytes[..] {
            notes.invalid_utf8 = true;
            (notes.line, notes.column) = (Some(first.line), Some(first.column));
            notes.repairs = (!more.is_empty()).then(|| describe(&bytes));
        }
        if matches!(self.syntax, Syntax::Stderr) {
            notes.stream = Some("stderr");
        }
        if let Some(why) = about.why {
            notes.not_an_event = Some(why);
            notes.line = Some(self.number);
        }
        let texts = self.parts.write(about.kind, text, (line.begins, line.ends), &notes);
        let mut parsed: Vec<_> = texts.into_iter().map(Parsed::Event).collect();
        parsed.extend(about.lost.map(Parsed::Result));
        parsed
    }

    /// The warning about repairs of a line: at most [`REPAIR_WARNINGS_MAX`] for one output.
    fn warn(&mut self, repairs: &[Repair]) -> Vec<NewEvent> {
        let Some(first) = repairs.first().filter(|_| self.warnings < REPAIR_WARNINGS_MAX) else { return Vec::new() };
        self.warnings += 1;
        let last = if self.warnings == REPAIR_WARNINGS_MAX { ". Further repairs are not reported" } else { "" };
        let stream = if matches!(self.syntax, Syntax::Stderr) { "standard error" } else { "the output" };
        let text = format!("What could not be read in {stream} was repaired: {}{last}.", describe(repairs));
        let (line, column) = (Some(first.line), Some(first.column));
        let notes = Notes { repaired: true, line, column, ..Notes::default() };
        event::texts(Known::ExternalEvent.as_str(), &text, &notes)
    }
}

/// What a line is.
enum Interpreted {
    /// Events, an outcome or a request, and what was repaired to read them.
    Read(Vec<Parsed>, Vec<Repair>),
    /// Output that is kept as it was printed.
    Text(AboutText),
}

/// About a line that is kept as text.
struct AboutText {
    /// Kind of its events.
    kind: &'static str,
    /// Why it is no event, if it looks like one.
    why: Option<String>,
    /// The outcome of a run whose result was in this line.
    lost: Option<Output>,
}

fn lost(why: &str) -> Failure {
    Failure::new("result_refused", format!("the line with the result cannot be read: {why}"))
}

/// The JSON object on a whole line, and what was repaired to read it; an error if there is none, with the reason if the
/// line begins like one.
fn parsed(text: &str, line: &Line) -> Result<(Value, Vec<Repair>), Option<String>> {
    let why = if line.begins && line.ends {
        match read_json::<Value>(text) {
            Ok((json, repairs)) if json.is_object() => return Ok((json, repairs)),
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

/// Whether a line that cannot be read as JSON has one of these values as its `type`.
fn is_of_type(text: &str, line: &Line, kinds: &[&str]) -> bool {
    begins_like_object(text, line) && top_level_type(text).is_some_and(|kind| kinds.contains(&kind))
}

/// A request that people do not get, as text: the command failed afterwards, or made another one for which it waits. It
/// is no message of the agent, which would count as its reply.
pub fn unasked(ask: &AskFeedback) -> Vec<NewEvent> {
    let text = serde_json::to_string(ask).unwrap_or_else(|_| ask.message.clone());
    event::texts(Known::ExternalEvent.as_str(), &text, &Notes { unasked: true, ..Notes::default() })
}

/// The result of a command that failed afterwards or asks people, as text: it is not the session's result.
pub fn unused_result(output: &Output) -> Vec<NewEvent> {
    let text = json!({ "type": "result", "result": output.result, "usage": output.usage }).to_string();
    event::texts(Known::AgentMessage.as_str(), &text, &Notes { unused_result: true, ..Notes::default() })
}

fn interpret(text: &str, line: &Line) -> Interpreted {
    let about = |why, lost| Interpreted::Text(AboutText { kind: Known::AgentMessage.as_str(), why, lost });
    if !begins_like_object(text, line) {
        return about(None, None);
    }
    // A result that cannot be read must not end the session as one that has none.
    let refused = |why: String| {
        let is_result = is_of_type(text, line, &["result"]);
        let failure = is_result.then(|| lost(&why));
        about(
            (!is_result).then_some(why),
            failure.map(|failure| Output { failure: Some(failure), ..Output::default() }),
        )
    };
    if !line.ends {
        return refused(TOO_LONG.into());
    }
    let (mut fields, repairs) = match read_json::<Fields>(text) {
        Ok(read) => read,
        Err(error) => return refused(not_json(&error)),
    };
    let kind = fields.remove("type").and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let Some(kind) = kind else { return about(None, None) };
    let read = match kind.as_str() {
        "result" => match result(fields) {
            Ok(output) => Ok(Parsed::Result(output)),
            Err(why) => return about(None, Some(Output { failure: Some(lost(&why)), ..Output::default() })),
        },
        "request_feedback" => people_request(fields).map(|ask| Parsed::Ask(Box::new(ask))),
        kind if kind == Known::StatePatch.as_str() && fields.contains_key("canvasId") => canvas_patch(fields),
        kind => event_of(kind, fields).map(Parsed::Event),
    };
    match read {
        Ok(parsed) => Interpreted::Read(vec![parsed], repairs),
        Err(why) => about(Some(why), None),
    }
}

/// Position and reason of a JSON error. The line number of the error is dropped: only one line was parsed.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("not valid JSON at column {}: {what}", error.column())
}

/// A result line: the field `result` if it is alone or with `usage`, else all other fields as one object.
///
/// # Errors
/// If it is too large.
fn result(mut fields: Fields) -> Result<Output, String> {
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
        return Err(format!("the result or its usage is larger than {DOCUMENT_BYTES_MAX} bytes"));
    }
    Ok(Output { result, usage, failure: None })
}

/// A request to people: its fields are those of the API. Without a key of its own, its text is the key, so that a
/// command that asks the same again makes no second request.
///
/// # Errors
/// If the fields are not those of a request.
fn people_request(mut fields: Fields) -> Result<AskFeedback, String> {
    let unwritable = || "its fields cannot be written as JSON".to_owned();
    let key = || Some(canonical_digest(&serde_json::from_str(object(&fields)?.get()).ok()?).to_string());
    let key = key().ok_or_else(unwritable)?;
    fields.entry("idempotencyKey".into()).or_insert_with(|| raw(&key));
    fields.insert("attempt".into(), raw(&0));
    serde_json::from_str(object(&fields).ok_or_else(unwritable)?.get()).map_err(|error| error.to_string())
}

/// A change of a canvas: besides the canvas, its fields are those of the API.
///
/// # Errors
/// If the fields are not those of a patch.
fn canvas_patch(mut fields: Fields) -> Result<Parsed, String> {
    let id = text_field(&mut fields, "canvasId")?.unwrap_or_default();
    let id: SessionId = id.parse().map_err(|error: InvalidId| format!("canvasId: {error}"))?;
    let patch = object(&fields).ok_or("its fields cannot be written as JSON")?;
    let patch = serde_json::from_str(patch.get()).map_err(|error| error.to_string())?;
    Ok(Parsed::Patch(id, Box::new(patch)))
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
