//! Whether a rule decides.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It decides what it covers.
    Active,
    /// It decides nothing until an admin resumes it.
    Suspended,
    /// It decides nothing any more. Its decisions still name it.
    Deleted,
}

names!(State { Active = "active", Suspended = "suspended", Deleted = "deleted" });

/// Why a rule is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspendedWhy {
    /// A person did not approve an item that the rule covers.
    Differed,
    /// A person undid a decision of the rule.
    Undone,
    /// An admin suspended it.
    Admin,
}

names!(SuspendedWhy { Differed = "differed", Undone = "undone", Admin = "admin" });
