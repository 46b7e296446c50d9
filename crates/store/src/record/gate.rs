//! Gates, who decides them, and what was decided.

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
    /// Id.
    pub id: GateId,
    /// The session that waits.
    pub session_id: SessionId,
    /// The action it executes.
    pub action_id: Option<ActionId>,
    /// The record that an approval would write.
    pub entity_id: Option<EntityId>,
    /// The agent.
    pub agent_slug: Option<String>,
    /// What is paused.
    pub kind: GateKind,
    /// Where it stands.
    pub state: GateState,
    /// For people.
    pub title: String,
    /// The paused call, the staged output or the question.
    pub task: Task,
    /// Of what was shown.
    pub task_digest: Digest,
    /// The same for gates that are alike.
    pub similar_key: String,
    /// JSON: the criteria set that judged it, with its dimensions.
    pub criteria: Option<String>,
    /// Mean score of the chosen options.
    pub score: Option<f64>,
    /// What to look at twice.
    pub flags: Vec<String>,
    /// The session's attempt that came to it.
    pub attempt: u32,
    /// Approvals needed.
    pub quorum: u32,
    /// Whether the person for whom the session runs may decide.
    pub self_approval: bool,
    /// For whom the session runs: `user:…`, `token:…` or `system`.
    pub requested_by: String,
    /// That person, where it is one.
    pub requester_id: Option<UserId>,
    /// When it opened.
    pub opened_at: Timestamp,
    /// Its place in an inbox: its deadline in microseconds, or the end of time.
    pub order_at: i64,
    /// When it expires.
    pub due_at: Option<Timestamp>,
    /// When its reviewers are reminded.
    pub remind_at: Option<Timestamp>,
    /// When they were.
    pub reminded_at: Option<Timestamp>,
    /// When `escalate_to` may decide as well.
    pub escalate_at: Option<Timestamp>,
    /// Who is asked then.
    pub escalate_to: Option<Principal>,
    /// When they were.
    pub escalated_at: Option<Timestamp>,
    /// When the decision's effect happens.
    pub held_until: Option<Timestamp>,
    /// When it was closed.
    pub settled_at: Option<Timestamp>,
    /// What was decided.
    pub outcome: Option<Verdict>,
    /// The action's name, as it is now.
    pub action_name: Option<String>,
    /// The record's title, as it is now.
    pub entity_title: Option<String>,
}

/// Somebody who may decide a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewerRecord {
    /// A person.
    User {
        /// Who.
        id: UserId,
        /// Their address.
        email: String,
    },
    /// Everybody in a group.
    Group {
        /// Which.
        id: GroupId,
        /// Its name.
        name: String,
    },
    /// Everybody whose role allows it.
    Anyone,
    /// The workspace's admins, because too few reviewers are left.
    Admins,
}

/// A recorded decision on a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// From 1.
    pub number: u32,
    /// Who; `None` for an answer that came from outside, through a token.
    pub user_id: Option<UserId>,
    /// `user:…`, `token:…` or `system`.
    pub actor: String,
    /// Their address; empty where it is not a person.
    pub email: String,
    /// What; `None` when it withdraws `undoes`.
    pub verdict: Option<Verdict>,
    /// The decision that it withdraws.
    pub undoes: Option<u32>,
    /// JSON: the values an edit proposes, or the answer.
    pub value: Option<String>,
    /// Digest of what is to happen.
    pub value_digest: Digest,
    /// What they said about it.
    pub note: Option<String>,
    /// When.
    pub at: Timestamp,
    /// Version of the gate's record at that instant. The database fills it in when the decision is stored.
    pub entity_version: Option<u64>,
}
