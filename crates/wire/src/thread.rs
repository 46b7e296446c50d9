//! Conversations with agents, and ratings of sessions that have ended.

use domain::{
    Timestamp,
    session::{EndReason, Status},
    session_feedback::{Label, Surface},
    thread::SummaryBy,
};
use serde::{Deserialize, Serialize};

/// A conversation: a session that rests between turns.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Its session's id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: String,
    /// For people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Whom it is with.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// The action it executes, where it was begun with one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<String>,
    /// draft before the first message, pending while a turn is queued, running while the agent works, idle at rest,
    /// waiting_human and awaiting_tool while somebody else has to act; final when it has ended.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// Why it ended, where it did.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndReason>))]
    pub end_reason: Option<EndReason>,
    /// Whether only whoever began it sees it. It keeps nobody's name, and its rating in memory alone.
    pub incognito: bool,
    /// Messages of its person; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<u64>,
    /// Sequence of its newest event.
    pub head_sequence: u64,
    /// Who began it: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// When it was begun.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
    /// When it ended.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub completed_at: Option<Timestamp>,
}

/// `POST /api/threads`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartThread {
    /// The agent's slug, or the id of an action that names one.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AgentOrAction))]
    pub agent: String,
    /// Only the caller and the agent at work see it. Keeps nobody's name on it, and its rating in memory alone.
    #[serde(default)]
    pub incognito: bool,
    /// At most 300 characters; made from the first message when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub title: Option<String>,
    /// The first message, 1 to 20,000 characters. Without one the conversation waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Message>))]
    pub message: Option<String>,
    /// The same key answers with the same conversation again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// `POST /api/threads/{id}/messages`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMessage {
    /// 1 to 20,000 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Message))]
    pub text: String,
    /// A UUID made by the client: a repeat answers with what is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub id: Option<String>,
}

/// Where a message landed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageReceipt {
    /// Its event.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub event_id: String,
    /// Its place in the session's log; what follows it is the answer.
    pub sequence: u64,
    /// The conversation now.
    pub thread: Thread,
}

/// `POST /threads/{id}/end`. Everything may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EndThread {
    /// positive, negative or skip; nothing is kept without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RatingLabel>))]
    pub feedback: Option<Label>,
    /// Where the person was asked: cli_end, cli_exit or api_end, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndSurface>))]
    pub source: Option<Surface>,
    /// Whether a summary is kept; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<bool>,
}

/// A conversation that has ended. It looks the same whatever became of the rating.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndedThread {
    /// As it ended.
    pub thread: Thread,
    /// What is left of it; null where no summary is kept.
    pub summary: Option<ThreadSummary>,
}

/// A conversation in short: figures, quotations from its log, and its agent's closing words where that could be asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSummary {
    /// The conversation's title.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Messages of its person.
    pub turns: u64,
    /// From its beginning to its end.
    pub duration_ms: u64,
    /// Beginning of the first message.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Quote>))]
    pub first_request: Option<String>,
    /// Beginning of the last reply.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Quote>))]
    pub last_reply: Option<String>,
    /// Who wrote it: agent, where it has `closing`; log, where it is quoted alone.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SummaryBy))]
    pub by: SummaryBy,
    /// Closing words of the conversation's agent, at most 2,000 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Closing>))]
    pub closing: Option<String>,
    /// Why there are none, where the agent was asked for them.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub closing_missing: Option<String>,
}

/// `GET /api/memory/status`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryStatus {
    /// The session that was asked about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub thread_id: Option<String>,
    /// Its status.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionStatus>))]
    pub status: Option<Status>,
    /// Whether its rating stays in memory.
    pub incognito: bool,
    /// Turns so far.
    pub turn_count: u64,
    /// Events in its log.
    pub event_count: u64,
    /// Ratings of this session; without `thread_id`, the sessions that the caller has rated.
    pub session_feedback_count: u64,
    /// The sessions that the caller has rated; null where the caller is no person.
    pub own_feedback_count: Option<u64>,
    /// Where its rating is kept: sqlite, postgres or memory.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RatingBackend))]
    pub feedback_backend: String,
}

/// `PUT /api/sessions/{id}/feedback`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateSession {
    /// positive, negative or skip.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RatingLabel))]
    pub label: Label,
}

/// The caller's rating of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OwnFeedback {
    /// positive, negative or skip; null where the caller has not rated it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RatingLabel>))]
    pub label: Option<Label>,
    /// When.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub recorded_at: Option<Timestamp>,
}
