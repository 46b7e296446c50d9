//! What is done to several sessions at once.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is done to each of several sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkVerb {
    /// A new session like it is created, unless it was run again before.
    RunAgain,
    /// It is cancelled.
    Cancel,
    /// Its failure is acknowledged.
    Acknowledge,
}

names!(BulkVerb { RunAgain = "run_again", Cancel = "cancel", Acknowledge = "acknowledge" });
