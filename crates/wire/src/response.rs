//! Responses to views, and links to forms.

use domain::{
    Timestamp,
    id::{ActionId, EntityId, EntityTypeId, FeedbackRequestId, SessionId, ViewId, ViewLinkId},
    response::{RespondentKind, ResponseStatus, Scores},
    view::Answers,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The answers of one respondent to one view.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// UUID of the response, which is the id of its session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SessionId,
    /// UUID of the view.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub view_id: ViewId,
    /// Version of the view that the answers are for.
    pub version: u64,
    /// UUID of the agent's question that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub request_id: Option<FeedbackRequestId>,
    /// `draft`, `submitted`, `promoted` (an entity was made from it) or `abandoned`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ResponseStatus))]
    pub status: ResponseStatus,
    /// How the server knows the respondent: `user` (signed in), `token`, `browser` (a cookie) or `lead` (a name and an
    /// address that no one proved).
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RespondentKind))]
    pub respondent_kind: RespondentKind,
    /// UUID of the person or token, or an id derived from the browser's cookie.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub respondent_id: Uuid,
    /// UUID of the entity with the name and address that the respondent gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub lead_entity_id: Option<EntityId>,
    /// Number of saves so far.
    pub rev: u64,
    /// The answers by key of the field: as typed in a draft, checked once submitted.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub answers: Answers,
    /// Whether it was submitted after its question had expired or was answered.
    pub late: bool,
    /// Time of the first save.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the last save, or of the submission.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub saved_at: Timestamp,
    /// Time of the submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub submitted_at: Option<Timestamp>,
    /// What the respondent said about themselves. Only admins, operators and reviewers see it and `leadEntityId`;
    /// worker tokens do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
    /// Results of the safety gate for its ratings, by key of the field: `{verdict: "passed", score, flags}` or
    /// `{verdict: "blocked", dimension, option, reason}`. Only what was submitted has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub scores: Scores,
    /// UUID of the entity that was made from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub promoted_entity_id: Option<EntityId>,
    /// UUID of the session in which a task makes the entity. It waits where the task requires approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub promotion_session_id: Option<SessionId>,
}

/// The name and address that a respondent without an account gave. No one proved them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Lead {
    /// Name, as the entity of the lead says now.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub name: String,
    /// E-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 10_000))]
    pub email: Option<String>,
}

/// `POST /api/views/{id}/submit-interaction`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubmitInteraction {
    /// Id that the client made, unique in the view. A repeat with the same id is answered with what is recorded.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SubmissionId))]
    pub submission_id: String,
    /// UUID of an agent's question that uses the view. The answers reach the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub request_id: Option<FeedbackRequestId>,
    /// Version that the respondent saw; another one is refused with `stale_version`. Default: the published one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// `rev` of the draft that the respondent saw; another one is refused with `stale_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// The answers by key of the field.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub answers: Answers,
}

/// The answer to `POST /api/views/{id}/submit-interaction`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SubmittedInteraction {
    /// The response as recorded.
    pub response: Response,
    /// Whether it was recorded by an earlier request.
    pub is_repeat: bool,
}

/// `POST /api/responses/{id}/promote`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromoteResponse {
    /// UUID of the entity type of a new entity; either this or `actionId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub type_id: Option<EntityTypeId>,
    /// UUID of a task whose output is one entity. The answers are its output: its safety rules judge them, and they
    /// wait for approval where the task requires one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<ActionId>,
    /// Title of the entity. Default: the answer with the key `title` or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RecordTitle>))]
    pub title: Option<String>,
    /// Key of the answer for each field of the type, by the field's slug. A field that is not named takes the answer
    /// with the same key, hyphens written as underscores.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::schema::AnswerKey>, required = false))]
    pub fields: BTreeMap<String, String>,
}

/// A link to a form, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ViewLink {
    /// UUID of the link. It gives no access.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: ViewLinkId,
    /// UUID of the view.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub view_id: ViewId,
    /// First characters of the secret.
    #[cfg_attr(feature = "openapi", schema(max_length = 10))]
    pub hint: String,
    /// Creator: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time from which it does not work.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: Timestamp,
    /// Number of times that a browser opened the form with it.
    pub uses: u64,
    /// What the link is for, as its creator wrote it; may be empty.
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub note: String,
    /// Time a browser opened the form with it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_used_at: Option<Timestamp>,
    /// Time it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub revoked_at: Option<Timestamp>,
}

/// `POST /api/views/{id}/links`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateViewLink {
    /// For how many days it works, 1 to 366. Default: 30.
    #[serde(default = "default_days")]
    #[cfg_attr(feature = "openapi", schema(required = false, minimum = 1, maximum = 366))]
    pub days: u32,
    /// UUID of an agent's question that uses the view. What is answered by the link reaches the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub request_id: Option<FeedbackRequestId>,
    /// What the link is for: one line, at most 200 characters. Only those who manage forms see it.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false, max_length = 200))]
    pub note: String,
}

/// For how many days a link works by default.
const DAYS_DEFAULT: u32 = 30;

fn default_days() -> u32 {
    DAYS_DEFAULT
}

impl Default for CreateViewLink {
    fn default() -> Self {
        Self { days: DAYS_DEFAULT, request_id: None, note: String::new() }
    }
}

/// The answer to `POST /api/views/{id}/links`. The addresses contain the secret, which is not shown again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedViewLink {
    /// What a list shows of it.
    pub link: ViewLink,
    /// Address of the form, to give to people.
    #[cfg_attr(feature = "openapi", schema(max_length = 2048))]
    pub url: String,
    /// Address of the form for a frame in another page. The view lists the origins that may embed it.
    #[cfg_attr(feature = "openapi", schema(max_length = 2048))]
    pub embed_url: String,
    /// HTML with a frame and a script that keeps the frame as high as the form, to copy into that page.
    #[cfg_attr(feature = "openapi", schema(max_length = 8192))]
    pub snippet: String,
}

/// `GET /api/views/{id}/links`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ViewLinks {
    /// The links that work, newest first.
    pub links: Vec<ViewLink>,
}
