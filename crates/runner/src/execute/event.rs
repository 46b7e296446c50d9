//! Builds events. No I/O: ids and times are set by the event queue.

use super::{limit::ENVELOPE_BYTES, notes::Notes, tokens::Step};
use domain::event::Known;
use domain::limit::EVENT_BYTES_MAX;
use domain::message::ModelContext;
use serde::Serialize;
use serde_json::{Map, Value, value::to_raw_value};
use wire::event::NewEvent;

/// Largest content and metadata of an event together, bytes.
pub const EVENT_CONTENT_BYTES_MAX: usize = EVENT_BYTES_MAX - ENVELOPE_BYTES;

/// An event with this content. `notes` become its metadata.
pub fn event(kind: &str, parts: &impl Serialize, notes: &Notes) -> NewEvent {
    NewEvent {
        id: None,
        kind: kind.to_owned(),
        role: None,
        content: to_raw_value(parts).ok(),
        metadata: notes.metadata(),
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
    texts(Known::AgentMessage.as_str(), &text, &not_an_event(reason))
}

/// The warning that a text was meant to be an event, with the beginning of the reason why it is not.
pub fn not_an_event(reason: &str) -> Notes {
    Notes { not_an_event: Some(reason.chars().take(200).collect()), ..Notes::default() }
}

/// Bytes of an event's content and metadata: what the API's limits count.
pub fn size(event: &NewEvent) -> usize {
    [&event.content, &event.metadata].into_iter().flatten().map(|json| json.get().len()).sum()
}

/// Adds tokens and cost to the metadata of an event.
pub fn add_step(event: &mut NewEvent, step: &Step) {
    add(event, "step", step);
}

/// Adds to the metadata of an event what the model was given, if that fits; otherwise it is left for the next reply.
pub fn add_context(event: &mut NewEvent, context: &mut Option<Value>) {
    let fits = |context: &mut Value| {
        size(event) + ModelContext::KEY.len() + context.to_string().len() < EVENT_CONTENT_BYTES_MAX
    };
    if let Some(context) = context.take_if(fits) {
        add(event, ModelContext::KEY, &context);
    }
}

fn add(event: &mut NewEvent, name: &str, value: &impl Serialize) {
    let known = event.metadata.as_ref().and_then(|json| serde_json::from_str::<Map<String, Value>>(json.get()).ok());
    let mut members = known.unwrap_or_default();
    members.extend(serde_json::to_value(value).ok().map(|value| (name.to_owned(), value)));
    event.metadata = to_raw_value(&members).ok();
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
                (notes.part, notes.last_part) = (Some(self.0), Some(last));
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
