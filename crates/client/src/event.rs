//! A session's log: pages and appends.

use crate::{Client, EventStream, Result};
use wire::event::{Append, Appended, Events};

/// Which part of a log to read. Without bounds: from its beginning.
#[derive(Debug, Clone, Default)]
pub struct EventRange {
    /// Only events after this sequence, oldest first.
    pub after_sequence: Option<u64>,
    /// Only events before this sequence: the page that ends right before it.
    pub before_sequence: Option<u64>,
    /// Only these types; all when empty.
    pub event_types: Vec<String>,
    /// Events on the page; the server's default when absent.
    pub limit: Option<u32>,
}

impl Client {
    /// `GET /api/sessions/{id}/events`
    pub async fn events(&self, session_id: &str, range: &EventRange) -> Result<Events> {
        let types = (!range.event_types.is_empty()).then(|| range.event_types.join(","));
        let query = [
            ("afterSequence", range.after_sequence.map(|n| n.to_string())),
            ("beforeSequence", range.before_sequence.map(|n| n.to_string())),
            ("eventTypes", types),
            ("limit", range.limit.map(|n| n.to_string())),
        ];
        self.get(&["api", "sessions", session_id, "events"], &query).await
    }

    /// `POST /api/sessions/{id}/events`: all or nothing. Safe to repeat where every event carries an id.
    pub async fn append(&self, session_id: &str, append: &Append) -> Result<Appended> {
        self.post(&["api", "sessions", session_id, "events"], append).await
    }

    /// `GET /api/sessions/{id}/events/stream`: the log from after `after_sequence` to its end, live.
    pub fn stream(&self, session_id: &str, after_sequence: u64) -> EventStream {
        EventStream::new(self.clone(), session_id.to_owned(), after_sequence)
    }
}
