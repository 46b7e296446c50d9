//! The schema of an event that a client sends. `domain` defines the type and does not depend on OpenAPI.
//! Only the attributes of the fields are used.

use super::{EventContent, EventRole, EventType, Id, Key, Named, named};
use utoipa::ToSchema;

/// One event to append.
#[derive(Debug, serde::Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEvent {
    /// UUID chosen by the client. A repeated request with the same body is answered with the recorded event.
    #[schema(value_type = Option<Id>)]
    pub id: (),
    /// A dotted lower-case name.
    #[serde(rename = "type")]
    #[schema(value_type = EventType)]
    pub kind: (),
    /// user, agent or system; by the type when absent.
    #[schema(value_type = Option<EventRole>)]
    pub role: (),
    /// Array of parts, or plain text.
    #[schema(value_type = Option<EventContent>)]
    pub content: (),
    /// An object.
    #[schema(value_type = Option<Object>)]
    pub metadata: (),
    /// At most 200 characters.
    #[schema(value_type = Option<Key>)]
    pub thread_id: (),
    /// At most 200 characters; unique per session.
    #[schema(value_type = Option<Key>)]
    pub external_event_id: (),
    /// When it happened; now when absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub at: (),
}

pub(super) fn all() -> Vec<Named> {
    vec![named::<NewEvent>()]
}
