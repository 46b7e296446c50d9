//! One recorded event of a log.

use super::{Body, EventRole, Known};
use crate::{
    chain::Digest,
    clock::Timestamp,
    id::{EventId, SessionId},
};

/// One row of a session's log. It never changes after it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Id of the event, unique in its session.
    pub id: EventId,
    /// Session whose log holds the event.
    pub session_id: SessionId,
    /// Number of the event in its session; the first is 1.
    pub sequence: u64,
    /// Kind of the event, as stored. It may be unknown to this version.
    pub kind: String,
    /// Who the event is attributed to: user, agent or system.
    pub role: EventRole,
    /// JSON array, as sent.
    pub content: String,
    /// JSON object, as sent.
    pub metadata: String,
    /// The sub-thread within the session that the event is part of.
    pub thread_id: Option<String>,
    /// Id of the event in the system that it came from.
    pub external_event_id: Option<String>,
    /// Attempt of the worker that wrote the event; `None` if no worker did.
    pub attempt: Option<u32>,
    /// `user:…`, `token:…` or `system`.
    pub actor: String,
    /// Time it happened (UTC).
    pub at: Timestamp,
    /// Time it was recorded (UTC).
    pub recorded_at: Timestamp,
    /// Digest of content and metadata as they were recorded.
    pub body: Digest,
    /// Digest of the chain up to and including this event.
    pub digest: Digest,
}

impl Event {
    /// Returns the kind as one that this version knows; `None` if it does not.
    pub fn known(&self) -> Option<Known> {
        Known::parse(&self.kind)
    }

    /// Reads content and metadata.
    pub fn body(&self) -> Body {
        Body::read(&self.kind, &self.content, &self.metadata)
    }
}
