//! Full text search over events and records, and saved search lines.

use domain::{
    Timestamp,
    id::{SavedSearchId, SessionId},
    search::Kind,
    session::Status,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A page of a search: records, then sessions in the order of their newest event that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundEvents {
    /// Tasks, entities, questions and memory documents: first those whose name has the words, then those whose text has
    /// them, the newest change first. At most 10, with `kind` at most 50. None with conditions or a cursor.
    pub records: Vec<FoundRecord>,
    /// Whether there are more records with the words.
    pub has_more_records: bool,
    /// Whether there are records older than the newest 5,000 of their kind. Those are found by their names alone.
    pub has_older_records: bool,
    /// At most 20 sessions. A session with events on both sides of the end of a page is on both pages, with other
    /// events.
    pub items: Vec<FoundSession>,
    /// `cursor` of the next page; null on the last one. A page looks at 4,000 events at most: with `agent` or `status`
    /// it can have few sessions or none, and still have a next page.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EventCursor>))]
    pub next_cursor: Option<String>,
    /// All events that were committed before this time are found. Null while the index is made.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub indexed_until: Option<Timestamp>,
}

/// A task, an entity, a question or a memory document that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundRecord {
    /// What it is; never `event`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SearchKind))]
    pub kind: Kind,
    /// Id of the task, the entity, the memory document or the approval. A question that no session waits for has the id
    /// of its request.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: Uuid,
    /// Name of a task, title of an entity, text of a question, path of a document.
    pub name: String,
    /// Agent of a task, a question or a document; absent without one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// Its text on one line around the first place that was found, about 240 characters, in pieces. Empty without a
    /// text.
    pub snippet: Vec<SnippetPiece>,
    /// Time of the last change; of a question, when it was asked.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub changed_at: Timestamp,
}

/// A session with events that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundSession {
    /// Id of the session that has the events.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Title of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Agent of the session; absent without one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// Its status now.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// The newest of the page, newest first, at most 3.
    pub events: Vec<FoundEvent>,
    /// Number of further events of the session that the page found.
    pub more_events: u64,
}

/// An event that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundEvent {
    /// Its sequence in the log of the session.
    pub sequence: u64,
    /// Its kind.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EventType))]
    pub event_type: String,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub recorded_at: Timestamp,
    /// Its text on one line around the first place that was found, about 240 characters, in pieces.
    pub snippet: Vec<SnippetPiece>,
}

/// A piece of the text of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SnippetPiece {
    /// Piece of the text of the event.
    pub text: String,
    /// Whether it is what was searched for.
    pub is_marked: bool,
}

/// `GET /api/sessions/{id}/events/find`: the events of a log that have a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundInLog {
    /// Number of events of the log that have the text, wherever the page begins; at most 10,000.
    pub total: u64,
    /// Whether there are no others. Of a log, the first 100,000 events and 128 MiB are read.
    pub total_is_exact: bool,
    /// Oldest first. The next page is after the sequence of the last one.
    pub items: Vec<FoundEvent>,
    /// Whether there are more after the last item.
    pub has_more: bool,
}

/// A search line to save under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SaveSearch {
    /// Name, unique among those of the person.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Conditions and words; not empty.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SearchLine))]
    pub q: String,
    /// Whether everyone in the workspace sees it; only the person without it.
    #[serde(default)]
    pub shared: bool,
}

/// Another name of a saved search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RenameSearch {
    /// Name, unique among those of the person who saved it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
}

/// A search line that a person saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SavedSearch {
    /// UUID of the saved search.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SavedSearchId,
    /// What the person called it, unique among theirs.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// The line in its canonical form: `q` of `GET /api/sessions`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SearchLine))]
    pub q: String,
    /// Whether everyone in the workspace sees it.
    pub shared: bool,
    /// The person who saved it: `user:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// When it was saved.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
}

/// The saved searches that a person sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SavedSearches {
    /// By name; at most 50 of the person and 100 shared ones.
    pub saved_searches: Vec<SavedSearch>,
}
