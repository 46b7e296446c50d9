//! Events of a session's log.

use crate::Json;
pub use domain::event::NewEvent;
use domain::{
    Timestamp,
    event::{Body, EventRole, Known},
    id::EventId,
};
use serde::{Deserialize, Serialize};

/// One row of a session's log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// UUID of the event, chosen by its writer or by the server.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: EventId,
    /// 1-based, without gaps, in commit order.
    pub sequence: u64,
    /// Kind, e.g. `agent.message`. Unknown kinds are possible.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EventType))]
    pub kind: String,
    /// Author of the content.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EventRole))]
    pub role: EventRole,
    /// Array of parts, byte for byte as sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Part>))]
    pub content: Json,
    /// An object, byte for byte as sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Json,
    /// Sub-thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub thread_id: Option<String>,
    /// Id in the system it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub external_event_id: Option<String>,
    /// Attempt of the worker that wrote it; null for other writers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Who wrote it: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub actor: String,
    /// When it happened, by its writer.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// When the server recorded it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub recorded_at: Timestamp,
    /// Its link of the hash chain, hex.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub digest: String,
}

/// `GET /api/sessions/{id}/events`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Events {
    /// Oldest first.
    pub events: Vec<Event>,
    /// The session's newest sequence at the time of reading.
    pub head_sequence: u64,
    /// Whether more events of this filter exist in the direction of reading.
    pub has_more: bool,
}

impl Event {
    /// Returns the kind as one that this version knows; `None` if it does not.
    pub fn known(&self) -> Option<Known> {
        Known::parse(&self.kind)
    }

    /// Reads content and metadata.
    pub fn body(&self) -> Body {
        Body::read(&self.kind, self.content.get(), self.metadata.get())
    }
}

/// `POST /api/sessions/{id}/events`: all or nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Append {
    /// The worker's attempt; absent where a person writes `human.*` events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// 1 to 500.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::NewEvent>, min_items = 1, max_items = 500))]
    pub events: Vec<NewEvent>,
}

/// The answer to an append.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Appended {
    /// In the order sent.
    pub events: Vec<AppendedEvent>,
    /// The session's newest sequence afterwards.
    pub head_sequence: u64,
}

/// Where one event landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AppendedEvent {
    /// UUID of the recorded event.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: EventId,
    /// Position.
    pub sequence: u64,
}
