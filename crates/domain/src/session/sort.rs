//! The orders of a list of sessions.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The order of a list of sessions. Sessions with the same value are listed newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// The newest first.
    #[default]
    Newest,
    /// The oldest first.
    Oldest,
    /// The longest first: from the first claim to the end, or until now. Sessions that were never claimed come last.
    Duration,
    /// The most expensive first. Sessions whose agent reported no cost come last.
    Cost,
    /// The latest event first.
    Activity,
}

names!(Sort {
    Newest = "newest", Oldest = "oldest", Duration = "duration", Cost = "cost", Activity = "activity",
});

impl Sort {
    /// Whether the list is sorted by a value of its sessions that no index has, and not by when they began.
    pub const fn is_by_value(self) -> bool {
        match self {
            Self::Duration | Self::Cost | Self::Activity => true,
            Self::Newest | Self::Oldest => false,
        }
    }
}
