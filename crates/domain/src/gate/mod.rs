//! Gates: pauses of a session that wait for a person's decision. All kinds have the same record and are decided
//! in the same way.

mod canonical;
mod decision_state;
mod edit;
mod outcome;
mod policy;
mod state;
mod task;

pub use canonical::{canonical, canonical_digest};
pub use decision_state::{DecisionEffect, DecisionRequest, DecisionState, Vote, decision_state_of, evaluate};
pub use edit::{Approval, approval, merge, values_to_send, within};
pub use outcome::GateOutcome;
pub use policy::{ByRole, Policy, Principal, lacks_reviewers, needs_approval};
pub use state::{CloseReason, Gate, GateClosed, State};
pub use task::{
    HarmfulMemory, MEMORY_BASE, MEMORY_BODY, MalformedTask, MemoryProposal, PausedToolCall, Question, Staged, Task,
};

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a gate asks people to decide on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// A tool call that runs only after approval.
    Tool,
    /// An agent's output that is written to an entity only after approval.
    Output,
    /// Values of fields that are written to the session's entity only after approval.
    Fields,
    /// A question of the agent to a person.
    Question,
    /// A change of an agent's memory that the memory writer proposes.
    Memory,
}

names!(GateKind { Tool = "tool", Output = "output", Fields = "fields", Question = "question", Memory = "memory" });

impl GateKind {
    /// Whether a gate of this kind accepts this verdict.
    pub const fn takes(self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Approve | Verdict::Edit => match self {
                Self::Tool | Self::Output | Self::Fields | Self::Memory => true,
                Self::Question => false,
            },
            Verdict::Deny => true,
            Verdict::Respond => match self {
                Self::Tool | Self::Question => true,
                Self::Output | Self::Fields | Self::Memory => false,
            },
        }
    }
}

/// Whether a gate still waits for decisions, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// The gate waits for reviewers.
    Open,
    /// The gate is decided. The effect is delayed so that the decision can be undone.
    Held,
    /// The gate is decided and the decision has taken effect.
    Settled,
    /// No one decided in time.
    Expired,
    /// The session ended before a decision took effect.
    Withdrawn,
}

names!(GateState {
    Open = "open", Held = "held", Settled = "settled", Expired = "expired", Withdrawn = "withdrawn",
});

impl GateState {
    /// Whether the gate is settled, expired or withdrawn, and does not change any more.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Settled | Self::Expired | Self::Withdrawn)
    }
}

/// The verdict of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Approve the proposal as it is.
    Approve,
    /// Approve with the reviewer's changes.
    Edit,
    /// Deny. The note says why.
    Deny,
    /// Answer the question, or answer the call in place of the tool.
    Respond,
}

names!(Verdict { Approve = "approve", Edit = "edit", Deny = "deny", Respond = "respond" });

/// The people whom one reviewer entry of a gate names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewerKind {
    /// A person.
    User,
    /// All members of a group.
    Group,
    /// Everyone whose role includes the permission to decide.
    Anyone,
    /// The admins, because too few of the other reviewers are left.
    Admins,
}

names!(ReviewerKind { User = "user", Group = "group", Anyone = "anyone", Admins = "admins" });

/// Number of denials of a session's output at which the session fails.
pub const OUTPUT_REJECTION_MAX: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_takes_the_verdicts_of_its_question() {
        let taken =
            |kind: GateKind| Verdict::ALL.into_iter().filter(|verdict| kind.takes(*verdict)).collect::<Vec<_>>();
        let values = [Verdict::Approve, Verdict::Edit, Verdict::Deny];
        assert_eq!(taken(GateKind::Tool), Verdict::ALL);
        assert_eq!(taken(GateKind::Output), values);
        assert_eq!(taken(GateKind::Fields), values);
        assert_eq!(taken(GateKind::Question), [Verdict::Deny, Verdict::Respond]);
    }
}
