//! Running failed sessions again at a pace: a few at a time, or from a time on.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a paced run starts sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It has sessions left to start.
    Open,
    /// Each of its sessions was started or refused.
    Done,
    /// Someone cancelled it. Sessions that it had started continue.
    Cancelled,
}

names!(State { Open = "open", Done = "done", Cancelled = "cancelled" });

/// Outcome of one session of a paced run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It waits for its turn.
    Waiting,
    /// A new session runs it again.
    Started,
    /// Someone had run it again before its turn came.
    Already,
    /// It cannot be run again.
    Refused,
    /// The paced run was cancelled before its turn came.
    Cancelled,
}

names!(Outcome {
    Waiting = "waiting", Started = "started", Already = "already", Refused = "refused", Cancelled = "cancelled",
});
