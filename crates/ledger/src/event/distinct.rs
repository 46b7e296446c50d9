//! Equal events of one request are one event, as if the request had been sent twice.

use domain::{clock::truncate, id::EventId, issue::Issue};
use std::collections::HashMap;
use store::PreparedEvent;

/// The events of a request without repeats.
pub(super) struct Distinct {
    /// In the order sent. The caller may take them out.
    pub(super) events: Vec<PreparedEvent>,
    /// For each event that was sent, its place in `events`.
    places: Vec<usize>,
}

impl Distinct {
    /// Finds events with an id or external id of an earlier one.
    ///
    /// # Errors
    /// An issue for each event that differs from an earlier one with its id or external id.
    pub(super) fn of(sent: Vec<PreparedEvent>) -> Result<Self, Vec<Issue>> {
        let mut distinct = Self { events: Vec::with_capacity(sent.len()), places: Vec::with_capacity(sent.len()) };
        let mut by_id: HashMap<EventId, usize> = HashMap::new();
        let mut by_external_id: HashMap<String, usize> = HashMap::new();
        let mut issues = Vec::new();
        for (index, event) in sent.into_iter().enumerate() {
            let same_id = by_id.get(&event.id).filter(|_| event.client_made).copied();
            let same_external = event.external_event_id.as_ref().and_then(|id| by_external_id.get(id)).copied();
            let Some(earlier) = same_id.or(same_external) else {
                let place = distinct.events.len();
                by_id.insert(event.id, place);
                by_external_id.extend(event.external_event_id.clone().map(|id| (id, place)));
                distinct.places.push(place);
                distinct.events.push(event);
                continue;
            };
            if !is_repeat(&event, &distinct.events[earlier]) {
                let field = if same_id.is_some() { "id" } else { "externalEventId" };
                let first = distinct.sent_at(earlier);
                let message = format!("events[{first}] has the same one, and the two events differ");
                issues.push(Issue::new(format!("events[{index}].{field}"), message));
            }
            distinct.places.push(earlier);
        }
        if issues.is_empty() { Ok(distinct) } else { Err(issues) }
    }

    /// Place in the request of the event at `place` in `events`.
    pub(super) fn sent_at(&self, place: usize) -> usize {
        self.places.iter().position(|at| *at == place).unwrap_or(place)
    }

    /// Takes the result of each distinct event and returns that of each event that was sent.
    pub(super) fn spread<T: Copy>(&self, of_distinct: &[T]) -> Vec<T> {
        self.places.iter().filter_map(|place| of_distinct.get(*place).copied()).collect()
    }
}

/// Whether the store would take `event` as a repeat of `earlier` if that was recorded already.
fn is_repeat(event: &PreparedEvent, earlier: &PreparedEvent) -> bool {
    event.kind == earlier.kind
        && event.role == earlier.role
        && event.body == earlier.body
        && event.thread_id == earlier.thread_id
        && event.external_event_id == earlier.external_event_id
        && (!event.client_made || event.id == earlier.id)
        && event.at.is_none_or(|at| earlier.at.map(truncate) == Some(truncate(at)))
}
