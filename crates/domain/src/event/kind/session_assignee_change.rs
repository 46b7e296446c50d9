//! `session.assignee_change`: another member of the workspace looks after the session.

use super::payload::{Payload, json_text, read_fields};
use crate::id::UserId;
use serde::{Deserialize, Serialize};

/// Both people. The event has ids and no names, so that a renamed member is shown by the present name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssigneeChange {
    /// Who it was assigned to before; `None` for no one.
    pub from: Option<UserId>,
    /// Who it is assigned to; `None` for no one.
    pub to: Option<UserId>,
}

impl Payload for AssigneeChange {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        read_fields(metadata)
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        Some(if self.to.is_some() { "Assigned to a member" } else { "Assigned to no one" }.to_owned())
    }
}
