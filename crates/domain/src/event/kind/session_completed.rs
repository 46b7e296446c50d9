//! `session.completed`: the session has a result.

use super::payload::{Payload, about, json_text, read_fields, text_content, text_of};
use crate::id::{EntityId, GateId};
use serde::{Deserialize, Serialize};

/// A completion, by a worker, by an approval, or by the end of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// What the completion says; the server writes none.
    #[serde(skip)]
    pub text: Option<String>,
    /// The gate at which the output was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<GateId>,
    /// Attempt whose output it is; conversations have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Whether there is a result.
    #[serde(default)]
    pub has_result: bool,
    /// Actor who approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Entities that the output wrote; `None` if it was not for entities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Vec<WrittenEntity>>,
    /// Number of turns of a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
}

/// An entity after an output was written to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenEntity {
    /// Entity that was created, updated or left unchanged.
    pub entity_id: EntityId,
    /// Slug of its type.
    pub entity_type: String,
    /// Its newest version.
    pub version: u64,
    /// What happened to it.
    pub effect: WriteEffect,
}

/// What an output did to an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteEffect {
    /// A new entity.
    Created,
    /// A new version.
    Updated,
    /// The entity had these values already.
    Unchanged,
}

impl Payload for Completed {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content), ..read_fields(metadata)? })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Completed", self.text.as_deref()))
    }
}
