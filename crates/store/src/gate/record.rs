//! The reviewers of a gate and the decisions on it, as they are read.

use domain::{
    Timestamp,
    chain::Digest,
    gate::{ReviewerKind, Verdict},
    id::{GateId, GroupId, SessionId, TenantId, UserId},
};
use uuid::Uuid;

/// The ids by which a gate is found, in a list of gates of every workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Workspace of the gate.
    pub tenant_id: TenantId,
    /// Id of the gate.
    pub id: GateId,
    /// Session that waits for the decision.
    pub session_id: SessionId,
}

impl Place {
    pub(super) const fn of_row((tenant_id, id, session_id): (Uuid, Uuid, Uuid)) -> Self {
        Self { tenant_id: TenantId(tenant_id), id: GateId(id), session_id: SessionId(session_id) }
    }
}

/// A person or a set of people who may decide a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewerRecord {
    /// A person.
    User {
        /// Id of the person's account.
        id: UserId,
        /// Sign-in address, lower case.
        email: String,
    },
    /// All members of a group.
    Group {
        /// Id of the group.
        id: GroupId,
        /// Display name of the group.
        name: String,
    },
    /// Every member whose role allows to review.
    Anyone,
    /// The workspace's admins, because too few reviewers are left.
    Admins,
}

impl ReviewerRecord {
    /// The people whom it names.
    pub const fn kind(&self) -> ReviewerKind {
        match self {
            Self::User { .. } => ReviewerKind::User,
            Self::Group { .. } => ReviewerKind::Group,
            Self::Anyone => ReviewerKind::Anyone,
            Self::Admins => ReviewerKind::Admins,
        }
    }
}

/// A recorded decision on a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Number of the decision at its gate; the first is 1.
    pub number: u32,
    /// The person who decided; `None` for an answer that a token sent from outside.
    pub user_id: Option<UserId>,
    /// `user:…`, `token:…`, `rule:…` or `system`.
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

impl DecisionRecord {
    /// Whether a rule decided, and no person.
    pub fn is_by_rule(&self) -> bool {
        self.actor.starts_with("rule:")
    }
}
