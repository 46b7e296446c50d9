//! Gates: pauses that wait for a person's decision. One shape for all kinds, one way to decide.

mod canonical;
mod decision_state;
mod edit;
mod policy;
mod task;

pub use canonical::{canonical, canonical_digest};
pub use decision_state::{DecisionEffect, DecisionRequest, DecisionState, Vote, decision_state_of, evaluate};
pub use edit::{Approval, approval, asked, merge, within};
pub use policy::{ByRole, Policy, Principal, lacks_reviewers, needs_approval};
pub use task::{MalformedTask, PausedToolCall, Question, Staged, Task};

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// A tool call that has not run.
    Tool,
    /// An agent's output that has not been written to a record.
    Output,
    /// Values of fields that have not been written to the record they are about.
    Fields,
    /// A question that only a person can answer.
    Question,
}

names!(GateKind { Tool = "tool", Output = "output", Fields = "fields", Question = "question" });

impl GateKind {
    /// Whether this verdict makes sense of this kind of gate.
    pub const fn takes(self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Approve | Verdict::Edit => match self {
                Self::Tool | Self::Output | Self::Fields => true,
                Self::Question => false,
            },
            Verdict::Deny => true,
            Verdict::Respond => match self {
                Self::Tool | Self::Question => true,
                Self::Output | Self::Fields => false,
            },
        }
    }
}

/// Where a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// Waits for reviewers.
    Open,
    /// Decided; the effect is held back so that it can be undone.
    Held,
    /// Decided, and its effect has happened.
    Settled,
    /// Nobody decided in time.
    Expired,
    /// The session ended before anybody decided.
    Withdrawn,
}

names!(GateState {
    Open = "open", Held = "held", Settled = "settled", Expired = "expired", Withdrawn = "withdrawn",
});

/// What a reviewer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it was staged.
    Approve,
    /// With the reviewer's changes.
    Edit,
    /// Not at all; the note says why.
    Deny,
    /// An answer in the place of the call, or to the question.
    Respond,
}

names!(Verdict { Approve = "approve", Edit = "edit", Deny = "deny", Respond = "respond" });

/// Denials of a session's output after which it fails.
pub const OUTPUT_REJECTION_MAX: u32 = 3;
