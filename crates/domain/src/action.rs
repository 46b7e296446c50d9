//! Actions: configured work. The UI calls one a task.

mod input;

pub use input::{INPUT_SCHEMA, default_input, needs_input};

use serde::{Deserialize, Serialize};

/// Whether an action can be triggered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// Can be triggered.
    Active,
    /// Kept for its history; cannot be triggered.
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

    /// The status of a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

/// What an action's sessions produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputType {
    /// Free text.
    Text,
    /// Named values.
    Fields,
    /// One entity.
    Entity,
    /// Several entities.
    Entities,
    /// An entity and its relation to another.
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

    /// The output type of a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }
}

/// The warning code of a session that names no agent: workers that name agents never claim it.
pub const NO_AGENT: &str = "no_agent";
