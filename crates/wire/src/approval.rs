//! Approvals: gates as the API shows them, and requests to decide them.

use crate::{
    Json,
    entity::{Entity, EntityVersion},
    history::HistoryTurn,
};
use domain::{
    Timestamp,
    gate::{GateKind, GateState, ReviewerKind, Verdict},
    id::{ActionId, EntityId, FeedbackRequestId, GateId, SessionId, UserId},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A pause of a session that waits, or waited, for a decision.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// UUID of the approval.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: GateId,
    /// tool, output, fields, question or memory.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::GateKind))]
    pub kind: GateKind,
    /// open, held (decided, can be undone), settled, expired or withdrawn.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::GateState))]
    pub state: GateState,
    /// Session that waits.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Action that the session executes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<ActionId>,
    /// Name of the action that the session executes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub action_name: Option<String>,
    /// Agent that the session was queued for.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// Entity that it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub entity_id: Option<EntityId>,
    /// Present title of that entity.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub entity_title: Option<String>,
    /// Title for people: the tool's name, the action's name, or the question.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// `{kind, pausedToolCall | stagedOutput, criteriaScore?, safetyFlags? | question}`, as it was staged.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub task: Json,
    /// The values proposed now: the staged ones, or a reviewer's edit that needs further approvals.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub proposed: Option<Json>,
    /// SHA-256 (hex) of what an approval would do now. A decision with another digest is refused.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub digest: String,
    /// Mean score of the chosen options; null if they have no scores.
    pub score: Option<f64>,
    /// Options marked for closer inspection, as `dimension: option`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Flag>))]
    pub flags: Vec<String>,
    /// Equal for approvals with the same kind, agent, tool and keys; for questions with the same agent, text and form.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SimilarKey))]
    pub similar_key: String,
    /// The people who may decide.
    pub reviewers: Vec<Reviewer>,
    /// Number of approvals needed, each from a different person.
    pub quorum: u32,
    /// Number of approvals of the proposed values so far.
    pub approvals: u32,
    /// Whether the caller may decide now.
    pub may_decide: bool,
    /// Whether the caller has approved the proposed values. The approval then waits for others; the caller may still
    /// edit or deny.
    #[serde(default)]
    pub approved_by_caller: bool,
    /// Why the caller may not decide; null if they may.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub may_not_decide_because: Option<String>,
    /// The caller for whom the session runs: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub requested_by: String,
    /// Time at which it opened.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub opened_at: Timestamp,
    /// Time at which it expires together with the session: its own deadline, or that of the session if it is closer.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub due_at: Option<Timestamp>,
    /// Time at which the reviewers were reminded.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub reminded_at: Option<Timestamp>,
    /// Time at which further reviewers were asked.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub escalated_at: Option<Timestamp>,
    /// Time until which the caller has snoozed it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub snoozed_until: Option<Timestamp>,
    /// Time until which the decision can be undone. The decision takes effect then.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub held_until: Option<Timestamp>,
    /// Time at which the decision took effect, or at which the approval closed without one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub settled_at: Option<Timestamp>,
    /// The decision that counts; null if there is none.
    pub decision: Option<Decision>,
}

/// People who may decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reviewer {
    /// user, group, anyone, or admins (if too few of the others are left).
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ReviewerKind))]
    pub kind: ReviewerKind,
    /// UUID of the person or the group.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub id: Option<Uuid>,
    /// An e-mail address, the name of a group, or a phrase.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ReviewerName))]
    pub name: String,
}

/// A recorded decision, or the withdrawal of one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Number of the decision, from 1.
    pub number: u32,
    /// approve, edit, deny or respond; null if it withdraws another decision.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Verdict>))]
    pub decision: Option<Verdict>,
    /// Number of the decision that it withdraws.
    pub undoes: Option<u32>,
    /// UUID of the person who decided.
    #[serde(with = "decider_id")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::DeciderId))]
    pub user_id: Option<UserId>,
    /// E-mail address of that person.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Decider))]
    pub email: String,
    /// The changed values of an edit, or the answer of a response.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub value: Option<Json>,
    /// Note of the person.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// Time at which the decision was recorded.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// The id of who decided. In JSON it is the empty text where no person did.
mod decider_id {
    use domain::id::UserId;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(id: &Option<UserId>, serializer: S) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => serializer.collect_str(id),
            None => serializer.serialize_str(""),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<UserId>, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(D::Error::custom) }
    }
}

/// `GET /api/approvals/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDetail {
    /// The approval itself.
    pub approval: Approval,
    /// The entity as it is now.
    pub entity: Option<Entity>,
    /// The entity as it was when the decision was recorded. Null before a decision, and for decisions that do not
    /// name its version.
    pub entity_then: Option<EntityVersion>,
    /// Fields of the entity's type that the staged values fill, in the order of the type:
    /// `[{slug, name, type, options, …}]`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::FieldDefinition>))]
    pub fields: Vec<Json>,
    /// Criteria dimensions by which it was rated.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Dimension>))]
    pub dimensions: Vec<Json>,
    /// Every decision on it, undone ones included, oldest first.
    pub decisions: Vec<Decision>,
    /// Earlier denials in this session, oldest first.
    pub denials: Vec<Denial>,
    /// Number of denials that end the session.
    pub denials_max: u32,
    /// How it was handed over, oldest first. At most 100.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub handovers: Vec<Handover>,
    /// Seconds for which a decision can be undone.
    pub undo_seconds: u32,
    /// The memory document that it would change, if that has changed since. Null for other kinds.
    #[serde(default)]
    pub document: Option<ChangedDocument>,
    /// The turns that a memory proposal comes from, as their logs have them now: first those of its lines. At most 50,
    /// of each at most 200 characters. Empty for other kinds.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub turns: Vec<HistoryTurn>,
}

/// A memory document that has changed since a change of it was proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangedDocument {
    /// Its version; 0 if there is none any more. An edit with this `baseVersion` replaces this text.
    pub version: u64,
    /// Its text without front matter.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub body: String,
    /// Whether both changed the same lines. Then only an edit with a newer `baseVersion` can take effect.
    pub conflicts: bool,
    /// What an approval writes, without front matter: both changes together. Absent if they conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::MemoryText>))]
    pub joined: Option<String>,
}

/// An earlier denial in the session, with its reason.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// The gate that was denied.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub gate_id: GateId,
    /// Reason that the reviewer gave.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// Who denied it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Decider))]
    pub by: String,
    /// Time of the denial.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// A person handed an approval over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Handover {
    /// Who handed it over.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Decider))]
    pub by: String,
    /// E-mail address of the person, or name of the group, that was asked.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ReviewerName))]
    pub to: String,
    /// What the person wrote about it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// Time at which it was handed over (UTC).
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// `POST /api/approvals/{id}/hand-over`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HandOver {
    /// Who is asked: `user:…` with an id, or `group:…` with a slug.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::HandedTo))]
    pub to: String,
    /// A note for them and the log, at most 4,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
}

/// `POST /api/approvals/{id}/decision`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decide {
    /// approve, edit, deny or respond.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Verdict))]
    pub decision: Verdict,
    /// For an edit: an object with the values that replace staged ones. Values that are left out are kept. For a
    /// response: the answer, any JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub value: Option<Json>,
    /// Note for the agent and the log, at most 4,000 characters. Required to deny an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// `digest` of the approval that the person saw. A decision without it is about what is proposed when it arrives,
    /// so it can take back an edit that the person never saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ShownDigest>))]
    pub digest: Option<String>,
}

/// `POST /api/actions/{id}/tool-approval`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolApproval {
    /// tool, output, fields, question or memory. Optional: refused if the approval is of another kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::GateKind>))]
    pub kind: Option<GateKind>,
    /// approve, edit, deny or respond.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Verdict))]
    pub decision: Verdict,
    /// An object with the changed values of an output. Approving with changes is an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub modified_output: Option<Json>,
    /// An object with the changed arguments of a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub modified_args: Option<Json>,
    /// Note for the agent and the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// `digest` of the approval that the person saw. A decision without it is about what is proposed when it arrives,
    /// so it can take back an edit that the person never saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ShownDigest>))]
    pub digest: Option<String>,
}

/// `POST /api/approvals/decisions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecideMany {
    /// 1 to 200 decisions, each with its own result.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 200))]
    pub decisions: Vec<DecideOne>,
}

/// One decision of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecideOne {
    /// UUID of the approval.
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

impl From<DecideOne> for Decide {
    fn from(DecideOne { id: _, decision, value, note, digest }: DecideOne) -> Self {
        Self { decision, value, note, digest }
    }
}

/// The answer to a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// One result for each decision, in the order of the request.
    pub results: Vec<DecidedOne>,
}

/// Result of one decision of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecidedOne {
    /// As it was sent.
    pub id: String,
    /// The approval after the decision; null if the decision was refused.
    pub approval: Option<Approval>,
    /// Why the decision was refused; null if it was recorded.
    pub problem: Option<crate::Problem>,
}

/// `POST /api/approvals/{id}/snooze`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snooze {
    /// For how long, 1 s to 90 days. Without it and `until`: back into the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 7776000))]
    pub seconds: Option<i64>,
    /// Until when: in the future, within 90 days. Not together with `seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub until: Option<Timestamp>,
}

/// How many items wait for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalCount {
    /// Number of items that the inbox shows as waiting: open approvals that the caller may decide and has not snoozed,
    /// `questions`, and suggestions for canvases that the caller may decide; at most `atMost`.
    pub open: u64,
    /// How many of them are questions of agents that go on meanwhile. Those are no approvals, so the list of approvals
    /// does not contain them.
    #[serde(default)]
    pub questions: u64,
}

/// `POST /api/sessions/{id}/elicitation-reply`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ElicitationReply {
    /// accept, decline or cancel; accept when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<ReplyAction>,
    /// The answer, any JSON. It is checked against the schema of the question, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub content: Option<Json>,
    /// UUID of the request that is answered. A repeat then changes nothing. When absent the reply goes to the question
    /// at which the session waits, so a repeat may answer the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub request_id: Option<FeedbackRequestId>,
}

/// How the person answers the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplyAction {
    /// Answers.
    Accept,
    /// Declines the question.
    Decline,
    /// Closes the question without a word.
    Cancel,
}
