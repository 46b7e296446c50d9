//! Reading and appending to a session's log.

use crate::{Client, EventStream, Result};
use domain::id::SessionId;
use wire::{
    event::{Append, Appended, Events},
    search::FoundInLog,
};

/// Part of a log. Without bounds it begins at the first event.
#[derive(Debug, Clone, Default)]
pub struct EventRange {
    /// Returns events after this sequence, oldest first.
    pub after_sequence: Option<u64>,
    /// Returns the page that ends right before this sequence.
    pub before_sequence: Option<u64>,
    /// Returns only events of these types; empty for all types.
    pub event_types: Vec<String>,
    /// Most events on the page; the server's default if absent.
    pub limit: Option<u32>,
}

impl Client {
    /// `GET /api/sessions/{id}/events`
    pub async fn events(&self, session_id: SessionId, range: &EventRange) -> Result<Events> {
        let types = (!range.event_types.is_empty()).then(|| range.event_types.join(","));
        let query = [
            ("afterSequence", range.after_sequence.map(|n| n.to_string())),
            ("beforeSequence", range.before_sequence.map(|n| n.to_string())),
            ("eventTypes", types),
            ("limit", range.limit.map(|n| n.to_string())),
        ];
        self.get(&["api", "sessions", &session_id.to_string(), "events"], &query).await
    }

    /// `GET /api/sessions/{id}/events/find`: the events that have a text, after `after_sequence`. `limit` is the number
    /// of events on the page; the server's default if absent.
    pub async fn find_events(
        &self,
        session_id: SessionId,
        text: &str,
        after_sequence: u64,
        limit: Option<u32>,
    ) -> Result<FoundInLog> {
        let query = [
            ("q", Some(text.to_owned())),
            ("afterSequence", Some(after_sequence.to_string())),
            ("limit", limit.map(|n| n.to_string())),
        ];
        self.get(&["api", "sessions", &session_id.to_string(), "events", "find"], &query).await
    }

    /// `POST /api/sessions/{id}/events`: records all events or none. Can be repeated if every event has an id.
    pub async fn append(&self, session_id: SessionId, append: &Append) -> Result<Appended> {
        self.post(&["api", "sessions", &session_id.to_string(), "events"], append).await
    }

    /// `GET /api/sessions/{id}/events/stream`: follows the log after `after_sequence`.
    pub fn stream(&self, session_id: SessionId, after_sequence: u64) -> EventStream {
        EventStream::new(self.clone(), session_id, after_sequence)
    }
}
