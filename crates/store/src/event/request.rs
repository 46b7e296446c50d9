//! An append as a caller asks for it, and its outcome.

use crate::engine::Error;
use domain::{
    Timestamp,
    chain::Digest,
    event::{EventRole, Kind, WriteRefusal},
    id::{EventId, SessionId, TenantId, UserId},
    session::Refusal,
};

/// One event that is validated and hashed, and has no sequence yet.
#[derive(Debug, Clone)]
pub struct PreparedEvent {
    /// The event's id, made by the client or by the server.
    pub id: EventId,
    /// Whether the client made the id. Only then does the id identify a repeated request.
    pub client_made: bool,
    /// What the event is, such as `agent.message`.
    pub kind: Kind,
    /// Who the event is attributed to: user, agent or system.
    pub role: EventRole,
    /// JSON array, as sent by the client.
    pub content: String,
    /// JSON object, as sent by the client.
    pub metadata: String,
    /// The sub-thread within the session that the event is part of.
    pub thread_id: Option<String>,
    /// Id of the event in the system that it came from. It identifies a repeated request too.
    pub external_event_id: Option<String>,
    /// When it happened, if the writer gave a time; otherwise the time of recording is used.
    pub at: Option<Timestamp>,
    /// Digest of content and metadata.
    pub body: Digest,
}

/// One append. Either all of its events are recorded or none.
#[derive(Debug, Clone)]
pub struct AppendRequest {
    /// Workspace of the session.
    pub tenant_id: TenantId,
    /// Session to whose log the events are appended.
    pub session_id: SessionId,
    /// Attempt number of the worker that writes; `None` when a person writes.
    pub attempt: Option<u32>,
    /// The person who writes, if a person does.
    pub user_id: Option<UserId>,
    /// Stored as actor of the events: `user:…`, `token:…` or `system`.
    pub actor: String,
    /// Time of recording (UTC).
    pub recorded_at: Timestamp,
    /// 1 to 500 events.
    pub events: Vec<PreparedEvent>,
}

impl AppendRequest {
    pub(crate) fn bytes(&self) -> usize {
        self.events.iter().map(|e| e.content.len() + e.metadata.len() + 200).sum()
    }
}

/// The sequences that an append was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendOutcome {
    /// Id and sequence of each event, in the order of the request.
    pub events: Vec<(EventId, u64)>,
    /// The newest sequence of the session.
    pub head_sequence: u64,
}

/// Why an append was refused.
#[derive(Debug, thiserror::Error)]
pub enum AppendRefusal {
    /// The workspace has no session with this id.
    #[error("no such session")]
    NoSession,
    /// The status or the attempt of the session does not allow the append.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The author may not write this event.
    #[error("event {index}: {refusal}")]
    Write {
        /// Position of the event in the request, from 0.
        index: usize,
        /// The rule that refuses the event.
        refusal: WriteRefusal,
    },
    /// An event with this id is recorded already and differs.
    #[error("event {index} has an id that is recorded with another body")]
    Conflict {
        /// Position of the event in the request, from 0.
        index: usize,
        /// Digest of the recorded body.
        recorded: Digest,
    },
    /// The session would have more than [`SESSION_EVENTS_MAX`](domain::limit::SESSION_EVENTS_MAX) events.
    #[error("the session is full")]
    SessionFull,
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] Error),
}
