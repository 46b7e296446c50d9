//! What is noted beside a model's reply.

use super::{
    super::{
        agent_event,
        event::{EVENT_CONTENT_BYTES_MAX, Notes, note, size, texts},
    },
    reply::Declined,
};
use domain::event::Known;
use domain::message::ModelContext;
use serde_json::{Value, value::to_raw_value};
use wire::event::NewEvent;

/// The events of a reply that is no answer: the words in which the model declined, or what happened, with the service's
/// stop reason.
pub(super) fn declined_events(declined: &Declined) -> Vec<NewEvent> {
    let notes = note("stopReason", declined.stop_reason.clone());
    if declined.text.trim().is_empty() {
        return texts(Known::ExternalEvent.as_str(), &declined.sentence(""), &notes);
    }
    let notes = notes.into_iter().chain(note("declined", true)).collect();
    agent_event::text(Known::AgentMessage.as_str(), &declined.text, &notes)
}

/// Notes on an event what the model was given, if that fits; otherwise the next answer is tried.
pub(super) fn note_context(event: &mut NewEvent, context: &mut Option<Value>) {
    let fits = |context: &mut Value| {
        size(event) + ModelContext::KEY.len() + context.to_string().len() < EVENT_CONTENT_BYTES_MAX
    };
    if let Some(context) = context.take_if(fits) {
        add_note(event, ModelContext::KEY, context);
    }
}

/// Adds an entry to an event's metadata.
pub(super) fn add_note(event: &mut NewEvent, name: &str, value: Value) {
    let known = event.metadata.as_ref().and_then(|json| serde_json::from_str::<Notes>(json.get()).ok());
    let mut notes = known.unwrap_or_default();
    notes.insert(name.to_owned(), value);
    event.metadata = to_raw_value(&notes).ok();
}
