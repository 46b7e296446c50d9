//! `human.entity_view`: a person opened the page of an entity.

use super::payload::{Members, Payload, with_time};
use crate::{Timestamp, id::EntityId};
use serde_json::json;

/// A person opened the page of an entity. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityView {
    /// When, according to the browser (UTC).
    pub at: Option<Timestamp>,
    /// Whose page it was.
    pub entity_id: EntityId,
    /// Slug of its type, if the browser knew it.
    pub entity_type: Option<String>,
    /// Path of the page.
    pub pathname: String,
}

impl Payload for EntityView {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        let entity_id = members.text(&["entityId"])?.parse().ok()?;
        let entity_type = members.text(&["entityType"]);
        Some(Self { at: members.time("at"), entity_id, entity_type, pathname: members.pathname()? })
    }

    fn metadata(&self) -> String {
        let mut metadata = json!({ "entityId": self.entity_id, "pathname": self.pathname });
        if let Some(slug) = &self.entity_type {
            metadata["entityType"] = json!(slug);
        }
        with_time(metadata, self.at)
    }

    fn sentence(&self) -> Option<String> {
        let id = self.entity_id.to_string();
        let what = self.entity_type.as_deref().map_or_else(|| id.clone(), |slug| format!("{slug} {id}"));
        Some(format!("Opened {what}"))
    }
}
