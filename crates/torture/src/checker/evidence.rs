//! The input of the checks.

use crate::history::Operation;
use domain::session::Status;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A round's history and the logs read after it.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Every operation of every client.
    pub operations: Vec<Operation>,
    /// Every session the round used.
    pub sessions: Vec<FinalSession>,
}

/// A session as the server shows it at the end of a round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinalSession {
    /// Id of the session.
    pub id: Uuid,
    /// Whether the server knows the session. Its creation was acknowledged, so it must.
    pub found: bool,
    /// All events, in the order of the log.
    pub rows: Vec<Row>,
    /// Status in the session's row.
    pub status: Option<Status>,
    /// Attempt in the session's row.
    pub attempt: u32,
    /// Head sequence in the session's row.
    pub head: u64,
    /// Digest of the last event, hexadecimal.
    pub head_digest: String,
    /// `token` of the recorded result, if there is one.
    pub token: Option<u64>,
    /// What is wrong with the hash chain; `None` if it holds.
    pub chain_fault: Option<String>,
}

impl FinalSession {
    /// A session that the server does not know.
    pub fn missing(id: Uuid) -> Self {
        Self {
            id,
            found: false,
            rows: Vec::new(),
            status: None,
            attempt: 0,
            head: 0,
            head_digest: String::new(),
            token: None,
            chain_fault: None,
        }
    }
}

/// One event of a final log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Position in the log, from 1.
    pub sequence: u64,
    /// Id of the event.
    pub id: Uuid,
    /// Digest of content and metadata, see `client::body_digest`.
    pub digest: u64,
    /// Attempt of the worker that wrote it; `None` for the server's events.
    pub attempt: Option<u32>,
    /// What the event means to the checks.
    pub kind: RowKind,
}

/// What an event means to the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowKind {
    /// Written by a worker.
    Worker,
    /// The server recorded a claim.
    Claimed,
    /// The server recorded a transition; the statuses where it named them.
    StatusChange {
        /// Status before the transition.
        from: Option<Status>,
        /// Status after the transition.
        to: Option<Status>,
    },
    /// Anything else the server wrote.
    Server,
}
