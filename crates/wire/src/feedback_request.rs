//! Requests of agents that people answer, and the answers.

use crate::Json;
use domain::{
    Timestamp,
    feedback_request::{Assurance, OnExpiry, Outcome, RequestState, RespondentKind},
    id::{FeedbackRequestId, GateId, RequestAnswerId, SessionId, ViewId},
    view::Gate,
};
use serde::{Deserialize, Serialize};

/// `POST /api/sessions/{id}/feedback-requests`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskFeedback {
    /// The fencing token.
    pub attempt: u32,
    /// UUID of a published view with the form. At most one of `viewId`, `fields` and `requestedSchema`; without one the
    /// answer is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub view_id: Option<ViewId>,
    /// Fields of the form, as in a view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Option<Vec<crate::schema::NewViewField>>, min_items = 1, max_items = 50)
    )]
    pub fields: Option<Json>,
    /// The form as the JSON Schema of an MCP elicitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub requested_schema: Option<Json>,
    /// What people are asked.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::QuestionText))]
    pub message: String,
    /// Whether the session waits for the answer; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
    /// What someone must do before the form opens: none, lead or member. When absent the rule of the view, or member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ViewGate>))]
    pub gate: Option<Gate>,
    /// Slug of the group whose members may answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub audience: Option<String>,
    /// Instant from which answers are late, in the next 366 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub expires_at: Option<Timestamp>,
    /// What happens to the session then: resume (when absent) or fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::OnExpiry>))]
    pub on_expiry: Option<OnExpiry>,
    /// Made by the agent, unique in the session. A repeat with the same key is the same request.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub idempotency_key: String,
}

/// A request and its state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FeedbackRequest {
    /// UUID of the request.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: FeedbackRequestId,
    /// Session that asked.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Attempt of the session that asked, or that waits for the answer.
    pub attempt: u32,
    /// The approval of kind question at which the session waits; null if it goes on.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub gate_id: Option<GateId>,
    /// View with the form.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub view_id: ViewId,
    /// The view's name in URLs.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub view_slug: String,
    /// Version of the view that is answered.
    pub version: u64,
    /// What people are asked.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub message: String,
    /// Questions of the form, as in a view.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    pub fields: Json,
    /// JSON Schema of the answers: what `content` of an answer must satisfy.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub schema: Json,
    /// Whether the session waits for the answer.
    pub blocking: bool,
    /// What someone must do before the form opens: none, lead or member.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ViewGate))]
    pub gate: Gate,
    /// Slug of the group whose members may answer.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub audience: Option<String>,
    /// `token:…` or `agent:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub asked_by: String,
    /// Time of the request.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub asked_at: Timestamp,
    /// Instant from which answers are late.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub expires_at: Option<Timestamp>,
    /// What happens to the session then.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::OnExpiry))]
    pub on_expiry: OnExpiry,
    /// Key of the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub idempotency_key: String,
    /// waiting, answered, expired or cancelled.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RequestState))]
    pub state: RequestState,
    /// Time it was answered, expired or cancelled; null if it waits, or if it was cancelled by the end of its session.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub closed_at: Option<Timestamp>,
}

/// The answer to a request for feedback.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// As it is recorded.
    pub request: FeedbackRequest,
    /// Path of the page where people answer, behind the address of the server. With the gate none or lead it is a link
    /// with a secret, which is not shown again. Else it is for members: the inbox item of a blocking request, or the
    /// page of another. Null for a request of an incognito session that is not blocking and has no link.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AnswerPath>))]
    pub url: Option<String>,
    /// Whether the session waits now. Then the worker has lost the session and stops.
    pub waits: bool,
    /// The answer in time, if there is one already. Then the session does not wait.
    pub answer: Option<RequestAnswer>,
}

/// Who gave an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Respondent {
    /// user, lead, browser, token or system.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnsweredByKind))]
    pub kind: RespondentKind,
    /// E-mail address of a member, or what a stranger said about themselves.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub label: Option<String>,
    /// How sure it is who answered: signed_in, claimed, unknown, program or server.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Assurance))]
    pub assurance: Assurance,
}

/// One answer to a request. It is untrusted text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RequestAnswer {
    /// UUID of the answer.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: RequestAnswerId,
    /// Request that it answers.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub request_id: FeedbackRequestId,
    /// Session that asked.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Response session in which it was given; null if it was given in the inbox or by a program.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub response_session_id: Option<SessionId>,
    /// What was asked.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub message: String,
    /// Whether the session waited for it.
    pub blocking: bool,
    /// View whose form was answered.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub view_id: ViewId,
    /// Version of that view.
    pub version: u64,
    /// Who answered.
    pub respondent: Respondent,
    /// answered, declined, cancelled or nobody_answered.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnswerOutcome))]
    pub outcome: Outcome,
    /// The answers by key of the field; null without an answer.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub answers: Option<Json>,
    /// Note of the respondent.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// Whether it came too late. Then it never reaches the agent.
    pub late: bool,
    /// Time of the answer.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub deposited_at: Timestamp,
    /// Time of the claim that took it; null if none has.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub consumed_at: Option<Timestamp>,
    /// Attempt that took it.
    pub consumed_attempt: Option<u32>,
}

/// Answers that were taken for the agent. No other claim or call gets them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionContext {
    /// The answers, oldest first, at most 10.
    pub input: Vec<RequestAnswer>,
    /// Questions and answers as a block of untrusted text for the agent's prompt. Recorded as
    /// `session.context_injected`.
    #[serde(default)]
    pub block: String,
}

/// `POST /api/sessions/{id}/answers/take`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TakeAnswers {
    /// The fencing token.
    pub attempt: u32,
    /// Made by the worker, new for each call. A repeat of the call has the same key, and returns the same answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// An answer as it is recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    /// What the log and the agent have: the caller's answer, or the one that it repeats.
    pub answer: RequestAnswer,
    /// Whether it was recorded before.
    pub repeated: bool,
}

/// `POST /api/feedback-requests/{id}/answer`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerRequest {
    /// accept, decline or cancel; accept when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<crate::approval::ReplyAction>,
    /// The answers by key of the field; only with accept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub content: Option<Json>,
    /// Text for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
}
