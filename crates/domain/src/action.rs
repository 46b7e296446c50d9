//! Actions: configured work. Pages call an action a task.

mod input;

pub use input::{INPUT_SCHEMA, default_input, needs_input};

use serde::{Deserialize, Serialize};

/// Whether an action can be triggered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// The action can be triggered.
    Active,
    /// The action is kept for its history and cannot be triggered.
    Archived,
}

impl ActionStatus {
    /// Both statuses.
    pub const ALL: [Self; 2] = [Self::Active, Self::Archived];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
        }
    }

    /// Returns the status with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

/// The type of output that an action's sessions produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputType {
    /// A free text.
    Text,
    /// Values for fields of the session's entity.
    Fields,
    /// Values for the session's entity, or for a new one.
    Entity,
    /// Entities to create and change.
    Entities,
    /// A new entity with a relation to the session's entity.
    RelationEntity,
}

impl OutputType {
    /// All output types.
    pub const ALL: [Self; 5] = [Self::Text, Self::Fields, Self::Entity, Self::Entities, Self::RelationEntity];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Fields => "fields",
            Self::Entity => "entity",
            Self::Entities => "entities",
            Self::RelationEntity => "relation-entity",
        }
    }

    /// Returns the output type with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }
}

/// Warning code of a session without an agent. Workers that name agents never claim such a session.
pub const NO_AGENT: &str = "no_agent";
