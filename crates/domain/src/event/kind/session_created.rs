//! `session.created`: the first event of a log.

use super::payload::{Payload, json_text, nullable, read_fields};
use crate::{
    id::{ActionId, SessionId, ViewId},
    session::Type,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a session came to be. Which members there are depends on the use case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    /// Agent, response, tool or mixed.
    pub session_type: Type,
    /// Part of the product that created it; `None` for sessions of actions and of the API.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    pub source: Option<Option<String>>,
    /// The session that it runs again.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    pub retry_of: Option<Option<SessionId>>,
    /// Sessions that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<SessionId>,
    /// The task that a person works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<ActionId>,
    /// Whether a conversation is incognito.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incognito: Option<bool>,
    /// The form that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view_id: Option<ViewId>,
    /// The session that a session of a coding agent goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    pub continues: Option<Option<SessionId>>,
    /// Digest of what the session was created with. Logs of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_digest: Option<Value>,
}

impl Payload for Created {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        read_fields(metadata)
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        Some(if self.is_retry() { "Created to run an earlier session again" } else { "Created" }.to_owned())
    }
}

impl Created {
    /// A session of this type, about which nothing else is recorded.
    pub const fn of_type(session_type: Type) -> Self {
        Self {
            session_type,
            open_digest: None,
            source: None,
            retry_of: None,
            depends_on: Vec::new(),
            task_id: None,
            incognito: None,
            view_id: None,
            continues: None,
        }
    }

    /// Whether the session runs an earlier one again.
    pub const fn is_retry(&self) -> bool {
        matches!(self.retry_of, Some(Some(_)))
    }

    /// Names the part of the product that created the session.
    #[must_use]
    pub fn by_source(self, source: Option<&str>) -> Self {
        Self { source: Some(source.map(str::to_owned)), ..self }
    }
}
