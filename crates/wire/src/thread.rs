//! Conversations with agents, and ratings of sessions that have ended.

use crate::insight::RatingsMissing;
use domain::{
    Timestamp,
    id::{ActionId, EventId, SessionId},
    memory_writer::channel::ChannelKind,
    session::{EndReason, Status},
    session_feedback::{Label, Surface},
    thread::SummaryBy,
};
use serde::{Deserialize, Serialize};

/// A conversation: a session that is idle between turns.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Its session's id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SessionId,
    /// Title, for people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// The agent of the conversation.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// The action that it executes, if it was started with one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<ActionId>,
    /// draft before the first message, pending while a turn is queued, running while the agent works, idle between
    /// turns, waiting_human or awaiting_tool while it waits for someone else; a final status when it has ended.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// Why it ended; null if it has not, or if its status says enough.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndReason>))]
    pub end_reason: Option<EndReason>,
    /// Whether only its creator can see it. Its log names no one, and its rating is kept in memory only.
    pub incognito: bool,
    /// The channel on which it is held, if it was started with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// Number of messages of the person; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<u64>,
    /// Sequence of its newest event.
    pub head_sequence: u64,
    /// Creator: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the last change.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
    /// When it ended.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub completed_at: Option<Timestamp>,
}

/// The channel of another platform on which a conversation is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Channel {
    /// Name of the platform, such as `slack`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub platform: String,
    /// Id of the channel on its platform.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub id: String,
    /// Name of the channel, or of the person of a direct message.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// What the channel is.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ChannelKind))]
    pub kind: ChannelKind,
    /// Name of the channel above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub parent: Option<String>,
}

/// `POST /api/threads`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartThread {
    /// The agent's slug, or the id of an action that names one.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AgentOrAction))]
    pub agent: String,
    /// Only the caller and the claimed agent see it. Its log names no one, and its rating is kept in memory only.
    #[serde(default)]
    pub incognito: bool,
    /// At most 300 characters. Default: derived from the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub title: Option<String>,
    /// The first message, 1 to 20,000 characters. Without one the conversation starts as a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Message>))]
    pub message: Option<String>,
    /// The channel on which it is held. Memories from the same channel are preferred, and the memory writer gets its
    /// name. An incognito conversation names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// A request with the same key is answered with the same conversation.
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
    /// UUID chosen by the client. A repeated request with it is answered with the recorded message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub id: Option<EventId>,
    /// The person of another platform who wrote it there. Only tokens of the workspace with the role operator or admin
    /// and without a scope name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<MessageAuthor>,
}

/// The person of another platform who wrote a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageAuthor {
    /// Name of the platform, such as `slack`; not `shiftbook`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub platform: String,
    /// Id of the person there.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub id: String,
    /// Name as it is shown there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub name: Option<String>,
}

/// A recorded message.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageReceipt {
    /// UUID of the message's event.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub event_id: EventId,
    /// Sequence of the message's event. Events after it are the answer.
    pub sequence: u64,
    /// The conversation after the message.
    pub thread: Thread,
}

/// `POST /threads/{id}/end`. All fields are optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EndThread {
    /// positive, negative or skip. Without it no rating is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RatingLabel>))]
    pub feedback: Option<Label>,
    /// Where the person was asked: cli_end, cli_exit or api_end (default).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndSurface>))]
    pub source: Option<Surface>,
    /// Whether a summary is stored; default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<bool>,
}

/// A conversation that has ended. The answer does not show whether the rating was recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndedThread {
    /// The conversation after its end.
    pub thread: Thread,
    /// Its summary; null if none is stored.
    pub summary: Option<ThreadSummary>,
}

/// Summary of a conversation: figures, quotations from its log, and the closing text of its agent, if there is one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreadSummary {
    /// The conversation's title.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Number of messages of the person.
    pub turns: u64,
    /// From its start to its end, in milliseconds.
    pub duration_ms: u64,
    /// Beginning of the first message.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Quote>))]
    pub first_request: Option<String>,
    /// Beginning of the last reply.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Quote>))]
    pub last_reply: Option<String>,
    /// Author of the summary: agent if it has `closing`, log if it only has quotations.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SummaryBy))]
    pub by: SummaryBy,
    /// Closing text of the conversation's agent, at most 2,000 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Closing>))]
    pub closing: Option<String>,
    /// Why there is no closing text, if the agent was asked for one.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub closing_missing: Option<String>,
}

/// `GET /api/memory/status`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemoryStatus {
    /// The session of the request, if it names one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub thread_id: Option<SessionId>,
    /// Status of that session.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionStatus>))]
    pub status: Option<Status>,
    /// Whether its rating is kept in memory only.
    pub incognito: bool,
    /// Number of turns so far.
    pub turn_count: u64,
    /// Number of events in its log.
    pub event_count: u64,
    /// Number of ratings of this session. Without `thread_id`: number of sessions that the caller has rated. Null if
    /// ratings cannot be read.
    pub session_feedback_count: Option<u64>,
    /// Number of sessions that the caller has rated; null if the caller is not a person, or if ratings cannot be read.
    pub own_feedback_count: Option<u64>,
    /// Why ratings could not be read; null if they were.
    #[serde(default)]
    pub ratings_missing: Option<RatingsMissing>,
    /// Where its rating is stored: sqlite, postgres or memory.
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
    /// positive, negative or skip; null if the caller has not rated it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RatingLabel>))]
    pub label: Option<Label>,
    /// Time of the rating; null without one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub recorded_at: Option<Timestamp>,
}
