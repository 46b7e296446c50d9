//! What a verdict rests on.

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

/// A session as the server shows it when everything is quiet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinalSession {
    /// Id.
    pub id: Uuid,
    /// Whether the server knows it; it was created with acknowledgement, so it must.
    pub found: bool,
    /// Its log.
    pub rows: Vec<Row>,
    /// Its status.
    pub status: Option<Status>,
    /// Its attempt.
    pub attempt: u32,
    /// Its head.
    pub head: u64,
    /// Digest of its newest event, hex.
    pub head_digest: String,
    /// The token of its result.
    pub token: Option<u64>,
    /// What is wrong with its hash chain.
    pub chain_fault: Option<String>,
}

impl FinalSession {
    /// A session the server does not know.
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
    /// Position.
    pub sequence: u64,
    /// Id.
    pub id: Uuid,
    /// Digest of the body.
    pub digest: u64,
    /// The worker's attempt.
    pub attempt: Option<u32>,
    /// What it means to the checks.
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
        /// Before.
        from: Option<Status>,
        /// After.
        to: Option<Status>,
    },
    /// Anything else the server wrote.
    Server,
}
