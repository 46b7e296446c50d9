//! Data of the page of an agent's memory.

use super::{stalled::StalledWriter, usefulness::Usefulness};
use crate::{FormState, entity::People, ui::list_search::ListSearch};
use wire::memory::{
    FoundMemory, MemoryBlamedLine, MemoryConflict, MemoryDiff, MemoryDiffLine, MemoryDocument, MemoryVersion,
};

/// A view of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    /// The rendered text.
    #[default]
    Text,
    /// The versions, and what one of them changed.
    History,
    /// The lines with their origin.
    Origin,
    /// How useful the lines were.
    Usefulness,
    /// The form that changes it.
    Edit,
}

impl View {
    /// The value of `?view=`; none for the rendered text.
    pub const fn query(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::History => Some("history"),
            Self::Origin => Some("origin"),
            Self::Usefulness => Some("usefulness"),
            Self::Edit => Some("edit"),
        }
    }

    /// Returns the view with this value.
    pub fn parse(text: &str) -> Self {
        [Self::History, Self::Origin, Self::Usefulness, Self::Edit]
            .into_iter()
            .find(|view| view.query() == Some(text))
            .unwrap_or_default()
    }
}

/// A change that is shown before it is saved.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The text as it would be.
    pub text: String,
    /// Its lines beside those of the newest version.
    pub lines: Vec<MemoryDiffLine>,
}

/// The document that is shown.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The document at its newest version.
    pub document: MemoryDocument,
    /// The text of that version; empty if it is deleted.
    pub text: String,
    /// Whether its texts were erased.
    pub is_erased: bool,
    /// Which part of the page is shown.
    pub view: View,
    /// Its versions, newest first; only for the history, and of an erased document.
    pub versions: Vec<MemoryVersion>,
    /// The versions before this one are listed; `None` for the newest ones.
    pub before: Option<u64>,
    /// Whether there are older versions than those that are listed.
    pub has_more_versions: bool,
    /// The change of the version that is looked at; only for the history.
    pub diff: Option<MemoryDiff>,
    /// Its lines with their origin; only for that view.
    pub origin: Vec<MemoryBlamedLine>,
    /// How useful its lines were; only for that view.
    pub usefulness: Option<Usefulness>,
    /// The change that is previewed.
    pub preview: Option<Preview>,
    /// Both sides of a change that was refused, and the lines of the newest version beside those that were typed.
    pub conflict: Option<(MemoryConflict, Vec<MemoryDiffLine>)>,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// Slug of the agent.
    pub agent: String,
    /// Its documents by path.
    pub documents: Vec<MemoryDocument>,
    /// Whether there are more than are shown.
    pub has_more: bool,
    /// The document that is shown.
    pub selected: Option<Selected>,
    /// The newest versions of all documents; shown while no document is.
    pub recent: Vec<MemoryVersion>,
    /// What is searched for.
    pub search: ListSearch,
    /// What was searched for, and what was found.
    pub found: Option<(String, Vec<FoundMemory>)>,
    /// The agent's writer, if it waits after failures.
    pub stalled: Vec<StalledWriter>,
    /// Names of the authors.
    pub people: People,
    /// State of a refused form: `new`, `edit` or `change`.
    pub form: FormState,
}
