//! Data of the page of an agent.

use crate::{FormState, entity::People, memory::StalledWriter};
use domain::Timestamp;
use wire::{
    insight::{RatingsMissing, WriterFigures},
    memory::{CharacterCard, MemoryDiffLine, MemoryVersion},
};

/// The workers of an agent, or of any agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workers {
    /// Number of those that are connected.
    pub connected: u64,
    /// When one of them was last seen (UTC).
    pub seen_at: Timestamp,
}

/// Figures of the last 30 days.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Sessions that ended.
    pub sessions: u64,
    /// Of those, sessions that completed.
    pub completed: u64,
    /// Of those, sessions that failed.
    pub failed: u64,
    /// Ratings that it helped.
    pub positive: u64,
    /// Ratings that it did not.
    pub negative: u64,
    /// Tokens that the models read.
    pub input_tokens: u64,
    /// Tokens that the models wrote.
    pub output_tokens: u64,
    /// Sessions that reported tokens.
    pub metered: u64,
    /// Sessions that reported a cost.
    pub priced: u64,
    /// Dollars, of the sessions that reported a cost; `None` if none did.
    pub cost_usd: Option<f64>,
}

/// What is gone of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erasures {
    /// Sessions whose content retention erased.
    pub sessions: u64,
    /// Whether there are more than were counted.
    pub is_more: bool,
    /// Events of those sessions.
    pub events: u64,
    /// Sessions that ended before this were due at the last run that erased some of them (UTC).
    pub older_than: Option<Timestamp>,
    /// Time of that run (UTC).
    pub at: Option<Timestamp>,
    /// Memory documents that people erased with all their versions.
    pub documents: u64,
}

/// A card that was uploaded and not given to the agent yet.
#[derive(Debug, Clone)]
pub struct CardPreview {
    /// Name of the character.
    pub name: String,
    /// SHA-256 of the file, by which the server finds it again.
    pub digest: String,
    /// Digest of the versions that the changes begin from.
    pub base: String,
    /// Whether documents have changed since the preview that the person saw, so that nothing was changed.
    pub has_moved: bool,
    /// Whether the agent has this card already.
    pub is_same: bool,
    /// Path, what would happen to the document, and its changed lines.
    pub changes: Vec<(String, &'static str, Vec<MemoryDiffLine>)>,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// Slug of the agent.
    pub agent: String,
    /// Its character card.
    pub card: Option<CharacterCard>,
    /// Number of its memory documents.
    pub documents: u64,
    /// The newest versions of them.
    pub recent: Vec<MemoryVersion>,
    /// Its figures; `None` if it had no session among those that are counted.
    pub figures: Option<Figures>,
    /// Whether the workspace had more sessions than are counted.
    pub is_cut: bool,
    /// Why ratings are missing from the figures; `None` if they are not.
    pub ratings_missing: Option<RatingsMissing>,
    /// Its workers; `None` if none was seen in the last day.
    pub workers: Option<Workers>,
    /// What its memory writer used in the last 30 days; `None` without a run.
    pub writer: Option<WriterFigures>,
    /// What retention and people erased.
    pub erasures: Erasures,
    /// Its memory writer, if it waits after failures.
    pub stalled: Vec<StalledWriter>,
    /// Names of authors.
    pub people: People,
    /// A card that was uploaded and not given yet.
    pub preview: Option<CardPreview>,
    /// The refused form.
    pub form: FormState,
}
