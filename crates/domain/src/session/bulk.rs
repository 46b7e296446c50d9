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
    /// It gets a tag.
    Tag,
    /// It loses a tag.
    Untag,
    /// It is assigned to a member.
    Assign,
    /// It is assigned to no one.
    Unassign,
    /// Its last assignment is undone: it is assigned as before.
    AssignBack,
}

names!(BulkVerb {
    RunAgain = "run_again",
    Cancel = "cancel",
    Acknowledge = "acknowledge",
    Tag = "tag",
    Untag = "untag",
    Assign = "assign",
    Unassign = "unassign",
    AssignBack = "assign_back",
});
