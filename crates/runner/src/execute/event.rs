//! Events as an executor makes them. Pure: ids and times are put in by the outbox.

use super::limit::ENVELOPE_BYTES;
use domain::limit::EVENT_BYTES_MAX;
use serde::Serialize;
use serde_json::{Map, Value};
use wire::event::NewEvent;

/// Notes about an event, for its metadata.
pub type Notes = Map<String, Value>;

/// Most content and metadata of an event that leave room for its other fields.
pub const ROOM: usize = EVENT_BYTES_MAX - ENVELOPE_BYTES;

/// Metadata of the event that tells an agent why its output was refused.
pub const OUTPUT_REFUSED: &str = "outputRefused";

/// An event of ready parts.
pub fn event(kind: &str, parts: &impl Serialize, notes: &Notes) -> NewEvent {
    NewEvent {
        id: None,
        kind: kind.to_owned(),
        role: None,
        content: serde_json::value::to_raw_value(parts).ok(),
        metadata: if notes.is_empty() { None } else { serde_json::value::to_raw_value(notes).ok() },
        thread_id: None,
        external_event_id: None,
        at: None,
    }
}

/// Text as one event, or as several numbered parts where one cannot hold it.
pub fn texts(kind: &str, text: &str, notes: &Notes) -> Vec<NewEvent> {
    Parts::default().write(kind, text, (true, true), notes)
}

/// An event that the API refused, as text with the reason.
pub fn as_text(event: &NewEvent, reason: &str) -> Vec<NewEvent> {
    let text = serde_json::to_string(event).unwrap_or_default();
    let reason: String = reason.chars().take(200).collect();
    texts("agent.message", &text, &Notes::from_iter([("notAnEvent".to_owned(), reason.into())]))
}

/// Bytes of an event that count towards the API's limits.
pub fn size(event: &NewEvent) -> usize {
    [&event.content, &event.metadata].into_iter().flatten().map(|json| json.get().len()).sum()
}

/// Writes text that may come in pieces, and numbers the events that it needs.
#[derive(Debug, Default)]
pub struct Parts(u32);

#[derive(Serialize)]
struct TextPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl Parts {
    /// The next piece; `(begins, ends)` says whether the text begins and ends in it.
    pub fn write(&mut self, kind: &str, text: &str, (begins, ends): (bool, bool), notes: &Notes) -> Vec<NewEvent> {
        if begins {
            self.0 = 0;
        }
        let mut events = Vec::new();
        let mut rest = text;
        loop {
            let (head, tail) = rest.split_at(fitting(rest, ROOM));
            let last = tail.is_empty() && ends;
            let mut notes = notes.clone();
            if self.0 > 0 || !last {
                self.0 += 1;
                notes.insert("part".into(), self.0.into());
                notes.insert("lastPart".into(), last.into());
            }
            events.push(event(kind, &[TextPart { kind: "text", text: head }], &notes));
            if tail.is_empty() {
                return events;
            }
            rest = tail;
        }
    }
}

/// How many bytes of `text` fit into `room` bytes once they are written as a JSON string.
pub fn fitting(text: &str, room: usize) -> usize {
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

/// Notes of one entry.
pub fn note(name: &str, value: impl Into<Value>) -> Notes {
    Notes::from_iter([(name.to_owned(), value.into())])
}
