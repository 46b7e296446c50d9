//! Approvals: gates as the API shows them, and requests to decide them.

use crate::{
    Json,
    entity::{Entity, EntityVersion},
};
use domain::{
    Timestamp,
    gate::{GateKind, GateState, Verdict},
};
use serde::{Deserialize, Serialize};

/// Something that waits, or waited, for a person's decision.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: String,
    /// tool, output, fields or question.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::GateKind))]
    pub kind: GateKind,
    /// open, held (decided, can be undone), settled, expired or withdrawn.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::GateState))]
    pub state: GateState,
    /// The session that waits.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: String,
    /// The action it executes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<String>,
    /// That action's name.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub action_name: Option<String>,
    /// The agent.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// The record that it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub entity_id: Option<String>,
    /// The record's title, as it is now.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub entity_title: Option<String>,
    /// For people: the tool's name, the action's name, or the question.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// `{kind, pausedToolCall | stagedOutput, criteriaScore?, safetyFlags? | question}`, as it was staged.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub task: Json,
    /// The values proposed now: the staged ones, or a reviewer's edit of them that waits for further approvals.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub proposed: Option<Json>,
    /// SHA-256 (hex) of what would happen now. Send it with a decision to be refused if it changed meanwhile.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub digest: String,
    /// Mean score of the chosen options, where they have scores.
    pub score: Option<f64>,
    /// What to look at twice, as `dimension: option`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Flag>))]
    pub flags: Vec<String>,
    /// The same for items that are alike: same kind, agent, tool and keys.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SimilarKey))]
    pub similar_key: String,
    /// Who may decide.
    pub reviewers: Vec<Reviewer>,
    /// Approvals needed, each from another person.
    pub quorum: u32,
    /// Approvals of what is proposed now.
    pub approvals: u32,
    /// Whether the caller may decide it now.
    pub may_decide: bool,
    /// Why not, where they may not.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub may_not_decide_because: Option<String>,
    /// For whom the session runs: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub requested_by: String,
    /// Since when it waits.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub opened_at: Timestamp,
    /// When it expires, and the session with it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub due_at: Option<Timestamp>,
    /// When the reviewers were reminded.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub reminded_at: Option<Timestamp>,
    /// When further reviewers were asked.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub escalated_at: Option<Timestamp>,
    /// Until when the caller put it aside.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub snoozed_until: Option<Timestamp>,
    /// Until when the decision can be undone; its effect happens then.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub held_until: Option<Timestamp>,
    /// When the effect happened, or the gate closed without one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub settled_at: Option<Timestamp>,
    /// The decision that counts, where there is one.
    pub decision: Option<Decision>,
}

/// Somebody who may decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reviewer {
    /// user, group, anyone, or admins (too few of the others are left).
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ReviewerKind))]
    pub kind: String,
    /// Of the person or the group.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub id: Option<String>,
    /// An e-mail address, a group's name, or a phrase.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ReviewerName))]
    pub name: String,
}

/// A recorded decision, or the withdrawal of one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// From 1.
    pub number: u32,
    /// approve, edit, deny or respond; absent when it withdraws another.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Verdict>))]
    pub decision: Option<Verdict>,
    /// The decision that it withdraws.
    pub undoes: Option<u32>,
    /// Id of the person.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::DeciderId))]
    pub user_id: String,
    /// Their address.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Decider))]
    pub email: String,
    /// The values an edit put in place, the answer of a response.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub value: Option<Json>,
    /// What they said about it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// When.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// `GET /api/approvals/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDetail {
    /// The item.
    pub approval: Approval,
    /// The record as it is now.
    pub entity: Option<Entity>,
    /// The record as it was when the decision was recorded. Null before, and for decisions that do not name its
    /// version.
    pub entity_then: Option<EntityVersion>,
    /// Fields of the record's type that the staged values fill, in the type's order: `[{slug, name, type, options, …}]`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::FieldDefinition>))]
    pub fields: Vec<Json>,
    /// Criteria dimensions that judged it.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Dimension>))]
    pub dimensions: Vec<Json>,
    /// Every decision on it, undone ones included, oldest first.
    pub decisions: Vec<Decision>,
    /// Earlier denials in this session, oldest first.
    pub denials: Vec<Denial>,
    /// How many denials end the session.
    pub denials_max: u32,
    /// For how long a decision can be undone, seconds.
    pub undo_seconds: u32,
}

/// An earlier denial: what was not wanted, and why.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// The gate that was denied.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub gate_id: String,
    /// Why.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// Who denied it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Decider))]
    pub by: String,
    /// When.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// `POST /api/approvals/{id}/decision`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decide {
    /// approve, edit, deny or respond.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Verdict))]
    pub decision: Verdict,
    /// Of an edit: an object with the values to put in place of the staged ones; what it leaves out stays. Of a
    /// response: the answer, any JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub value: Option<Json>,
    /// For the agent and the log; a denied output needs one. At most 4,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// `digest` of what was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ShownDigest>))]
    pub digest: Option<String>,
}

/// `POST /api/actions/{id}/tool-approval`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolApproval {
    /// tool, output, fields or question. Optional: the approval has its kind; another one is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::GateKind>))]
    pub kind: Option<GateKind>,
    /// approve, edit, deny or respond.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Verdict))]
    pub decision: Verdict,
    /// Edits of an output, an object. Approving with edits is an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub modified_output: Option<Json>,
    /// Edits of a tool call's arguments, an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub modified_args: Option<Json>,
    /// For the agent and the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// `digest` of what was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ShownDigest>))]
    pub digest: Option<String>,
}

/// `POST /api/approvals/decisions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecideMany {
    /// 1 to 200, each decided and answered on its own.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 200))]
    pub decisions: Vec<DecideOne>,
}

/// One of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecideOne {
    /// The approval.
    pub id: String,
    /// As in `POST …/decision`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Verdict))]
    pub decision: Verdict,
    /// As in `POST …/decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub value: Option<Json>,
    /// As in `POST …/decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// As in `POST …/decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ShownDigest>))]
    pub digest: Option<String>,
}

/// The answer to a batch: in its order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// One per decision.
    pub results: Vec<DecidedOne>,
}

/// What became of one decision of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecidedOne {
    /// As it was sent.
    pub id: String,
    /// The item afterwards, where it was decided.
    pub approval: Option<Approval>,
    /// Why not, where it was not.
    pub problem: Option<crate::Problem>,
}

/// `POST /api/approvals/{id}/snooze`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snooze {
    /// For how long, 1 s to 90 days; absent: back into the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 7776000))]
    pub seconds: Option<i64>,
}

/// How many items wait for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalCount {
    /// Open ones that the caller may decide and has not put aside; at most `atMost`.
    pub open: u64,
}

/// `POST /api/sessions/{id}/elicitation-reply`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ElicitationReply {
    /// accept, decline or cancel; accept when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<ReplyAction>,
    /// The answer, any JSON; checked against the question's schema where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub content: Option<Json>,
}

/// What somebody who was asked does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplyAction {
    /// Answers.
    Accept,
    /// Says no.
    Decline,
    /// Closes the question without a word.
    Cancel,
}
