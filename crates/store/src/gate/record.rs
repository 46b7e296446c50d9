//! Gates, their reviewers and their decisions.

use domain::{
    Timestamp,
    chain::Digest,
    gate::{GateKind, GateState, Principal, Task, Verdict},
    id::{ActionId, EntityId, GateId, GroupId, SessionId, TenantId, UserId},
};

/// A pause that waits, or waited, for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRecord {
    /// The workspace.
    pub tenant_id: TenantId,
    /// Identifies the gate.
    pub id: GateId,
    /// The session that waits.
    pub session_id: SessionId,
    /// The action that the session executes.
    pub action_id: Option<ActionId>,
    /// The entity that an approval would write.
    pub entity_id: Option<EntityId>,
    /// Slug of the session's agent.
    pub agent_slug: Option<String>,
    /// What is paused.
    pub kind: GateKind,
    /// Whether the gate is open, held, settled, expired or withdrawn.
    pub state: GateState,
    /// Title shown to reviewers.
    pub title: String,
    /// The paused call, the staged output or the question.
    pub task: Task,
    /// Digest of the task that was shown to the reviewers.
    pub task_digest: Digest,
    /// Key that similar gates share; empty after erasure.
    pub similar_key: String,
    /// The criteria set that evaluated the output, with its dimensions, as JSON.
    pub criteria: Option<String>,
    /// Mean score of the chosen options.
    pub score: Option<f64>,
    /// Points that reviewers should check carefully.
    pub flags: Vec<String>,
    /// The attempt of the session that opened the gate.
    pub attempt: u32,
    /// Number of approvals needed.
    pub quorum: u32,
    /// Whether the person who requested the session may decide.
    pub self_approval: bool,
    /// Who requested the session: `user:…`, `token:…` or `system`.
    pub requested_by: String,
    /// The person who requested the session, if a person did.
    pub requester_id: Option<UserId>,
    /// Time the gate was opened (UTC).
    pub opened_at: Timestamp,
    /// Sort key in an inbox: the deadline in microseconds, or the largest value if there is none.
    pub order_at: i64,
    /// Time the gate expires (UTC).
    pub due_at: Option<Timestamp>,
    /// Time to remind the reviewers (UTC).
    pub remind_at: Option<Timestamp>,
    /// Time the reviewers were reminded (UTC).
    pub reminded_at: Option<Timestamp>,
    /// Time from which `escalate_to` may decide as well (UTC).
    pub escalate_at: Option<Timestamp>,
    /// Who becomes a reviewer on escalation.
    pub escalate_to: Option<Principal>,
    /// Time of the escalation (UTC).
    pub escalated_at: Option<Timestamp>,
    /// Time the decision takes effect; until then it can be undone (UTC).
    pub held_until: Option<Timestamp>,
    /// Time the gate was closed (UTC).
    pub settled_at: Option<Timestamp>,
    /// The verdict, once the gate is decided.
    pub outcome: Option<Verdict>,
    /// Current name of the action.
    pub action_name: Option<String>,
    /// Current title of the entity.
    pub entity_title: Option<String>,
}

/// A person or a set of people who may decide a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewerRecord {
    /// A person.
    User {
        /// The person.
        id: UserId,
        /// Sign-in address, lower case.
        email: String,
    },
    /// All members of a group.
    Group {
        /// The group.
        id: GroupId,
        /// Display name of the group.
        name: String,
    },
    /// Every member whose role allows to review.
    Anyone,
    /// The workspace's admins, because too few reviewers are left.
    Admins,
}

/// A recorded decision on a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Number of the decision at its gate; the first is 1.
    pub number: u32,
    /// The person who decided; `None` for an answer that a token sent from outside.
    pub user_id: Option<UserId>,
    /// `user:…`, `token:…` or `system`.
    pub actor: String,
    /// Sign-in address of the person; empty if no person decided.
    pub email: String,
    /// Verdict of the decision; `None` if it withdraws the decision `undoes`.
    pub verdict: Option<Verdict>,
    /// Number of the decision that this one withdraws.
    pub undoes: Option<u32>,
    /// The values that an edit proposes, or the answer to a question, as JSON.
    pub value: Option<String>,
    /// Digest of what takes effect.
    pub value_digest: Digest,
    /// Free-text reason given by the reviewer.
    pub note: Option<String>,
    /// Time of the decision (UTC).
    pub at: Timestamp,
    /// Version of the gate's entity at the time of the decision. The database sets it when the decision is
    /// stored.
    pub entity_version: Option<u64>,
}
