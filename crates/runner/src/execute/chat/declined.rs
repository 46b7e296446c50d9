//! The events of a reply in which the model declined.

use super::{
    super::{agent_event, event::texts, notes::Notes},
    reply::Declined,
};
use domain::event::Known;
use wire::event::NewEvent;

/// The events of a reply that is no answer: the words in which the model declined, or what happened, with the service's
/// stop reason.
pub(super) fn declined_events(declined: &Declined) -> Vec<NewEvent> {
    let notes = Notes { stop_reason: Some(declined.stop_reason.clone()), ..Notes::default() };
    if declined.text.trim().is_empty() {
        return texts(Known::ExternalEvent.as_str(), &declined.sentence(""), &notes);
    }
    agent_event::text(Known::AgentMessage.as_str(), &declined.text, &Notes { declined: true, ..notes })
}
