//! Runs of a memory writer: what starts one, what came of one, and what one that was asked for waits for.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What starts a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunCause {
    /// Someone asked for it, the server stops, an earlier one left it, or an open session of a failed run is tried
    /// again.
    Flush,
    /// A conversation or session ended.
    End,
    /// Enough turns have accumulated.
    Turns,
    /// No session of the agent has changed for the idle time of the settings.
    Idle,
}

names!(RunCause { Flush = "flush", End = "end", Turns = "turns", Idle = "idle" });

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The run wrote its changes and moved the watermarks.
    Succeeded,
    /// The run failed and is tried again.
    Failed,
    /// The run failed too often. Its window, or the writer, does not run again before a person asks for it.
    Parked,
}

names!(RunState { Succeeded = "succeeded", Failed = "failed", Parked = "parked" });

/// What a run that was asked for waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunWaitsFor {
    /// A server with a writer for the agent.
    Writer,
    /// The runs of the next day.
    Runs,
    /// The tokens of the next day.
    Tokens,
}

names!(RunWaitsFor { Writer = "writer", Runs = "runs", Tokens = "tokens" });
