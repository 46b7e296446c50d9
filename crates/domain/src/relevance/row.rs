//! One memory that was considered for a prompt, as a ranker learns from it.

use crate::id::TenantId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One candidate of one prompt with its features and its label. It has numbers, flags, names of a closed set and ids
/// that say nothing outside of the workspace. It has no text, and no field that could hold one. The names of the fields
/// are those of the exported files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Id of the row that recorded the candidate.
    pub id: Uuid,
    /// Workspace.
    pub tenant: TenantId,
    /// HMAC of the session's id with the key of the installation, 64 hexadecimal digits.
    pub session_hmac: String,
    /// Sequence of the event that recorded the block. It grows with the prompts of a session.
    pub turn: u64,
    /// Version of the document, from 1.
    pub memory_version: u64,
    /// Id shared by all candidates of one prompt. Rows of one group are ranked against each other.
    pub query_group: Uuid,
    /// Relevance of the text to the prompt, in a scale of its own; not below 0. Larger is better.
    pub bm25: f64,
    /// Age of the version when the block was made, days.
    pub recency_d: f64,
    /// Importance of the document, from 0 to 1.
    pub importance: f64,
    /// Uses of the memory in the 30 days before the block was made.
    pub uses_30d: u32,
    /// Whether it is about the person who speaks.
    pub same_person: bool,
    /// Whether it comes from the channel on which they speak.
    pub same_channel: bool,
    /// Folder of the document.
    pub kind: Kind,
    /// Estimated tokens of the item.
    pub tokens: u32,
    /// Rank among the candidates, from 1.
    pub rank: u32,
    /// Place in the block, from 1; `None` if it is not injected.
    pub slot: Option<u32>,
    /// Whether it was part of the block.
    pub injected: bool,
    /// Probability, from 0 to 1, with which the candidate was injected, or was withheld, as it was.
    pub propensity: f64,
    /// Whether it was withheld at random although it would have been in the block.
    pub holdout: bool,
    /// Cosine of the vectors of prompt and text, from -1 to 1; `None` if they were not near or not compared. Files of
    /// earlier versions do not have it.
    #[serde(default)]
    pub similarity: Option<f64>,
    /// Mean of the ratings of agents and people, from -1 to 1; `None` if there are none.
    pub agent_mean: Option<f64>,
    /// Number of ratings that count.
    pub agent_n: u32,
    /// Uses in the answer or in the arguments of tools of its turn.
    pub use_hits: u32,
    /// Score of the session as a whole, from -1 to 1; `None` if no one scored it.
    pub continuity: Option<f64>,
    /// Label, from -1 to 1; `None` if nothing is known. An unrated memory never has the label 0.
    pub label: Option<f64>,
    /// Weight of the row in training, above 0.
    pub weight: f64,
    /// Name of the rule by which the candidates were ranked.
    pub ranker_version: String,
}

/// Folder of a memory document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `people/`
    People,
    /// `topics/`
    Topics,
    /// `sessions/`
    Sessions,
    /// Any other folder.
    Other,
}

impl Kind {
    /// All folders.
    pub const ALL: [Self; 4] = [Self::People, Self::Topics, Self::Sessions, Self::Other];

    /// Returns the folder of a document by the first part of its path.
    pub fn of(folder: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == folder).unwrap_or(Self::Other)
    }

    /// The name in JSON and in exported files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Topics => "topics",
            Self::Sessions => "sessions",
            Self::Other => "other",
        }
    }
}
