//! Builds events. No I/O: ids and times are set by the event queue.

use super::limit::ENVELOPE_BYTES;
use domain::event::Known;
use domain::limit::EVENT_BYTES_MAX;
use serde::Serialize;
use serde_json::{Map, Value};
use wire::event::NewEvent;

/// An event's metadata.
pub type Notes = Map<String, Value>;

/// Largest content and metadata of an event together, bytes.
pub const EVENT_CONTENT_BYTES_MAX: usize = EVENT_BYTES_MAX - ENVELOPE_BYTES;

/// Metadata key of the event that tells an agent why its output was refused.
pub const OUTPUT_REFUSED: &str = "outputRefused";

/// An event with this content. `notes` become its metadata.
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

/// Text as one event, or as several numbered parts if it is longer than [`EVENT_CONTENT_BYTES_MAX`].
pub fn texts(kind: &str, text: &str, notes: &Notes) -> Vec<NewEvent> {
    Parts::default().write(kind, text, (true, true), notes)
}

/// The JSON of an event that the API refused, as text, with the reason in its metadata.
pub fn as_text(event: &NewEvent, reason: &str) -> Vec<NewEvent> {
    let text = serde_json::to_string(event).unwrap_or_default();
    texts(Known::AgentMessage.as_str(), &text, &note("notAnEvent", short_reason(reason)))
}

/// The beginning of a reason, short enough for metadata.
pub fn short_reason(reason: &str) -> String {
    reason.chars().take(200).collect()
}

/// Bytes of an event's content and metadata: what the API's limits count.
pub fn size(event: &NewEvent) -> usize {
    [&event.content, &event.metadata].into_iter().flatten().map(|json| json.get().len()).sum()
}

/// Numbers the events of a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct Parts(u32);

#[derive(Serialize)]
struct TextPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl Parts {
    /// Builds the events of the next piece. `begins` and `ends` say whether the text begins and ends in this piece.
    pub fn write(&mut self, kind: &str, text: &str, (begins, ends): (bool, bool), notes: &Notes) -> Vec<NewEvent> {
        if begins {
            self.0 = 0;
        }
        let mut events = Vec::new();
        let mut rest = text;
        loop {
            let (head, tail) = rest.split_at(fitting(rest, EVENT_CONTENT_BYTES_MAX));
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

/// Length of the longest prefix of `text`, in bytes, that takes at most `room` bytes as a JSON string.
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

/// Metadata with one entry.
pub fn note(name: &str, value: impl Into<Value>) -> Notes {
    Notes::from_iter([(name.to_owned(), value.into())])
}
