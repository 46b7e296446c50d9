//! Requests of agents that people answer: their states, who gave an answer, what one more answer does, and the
//! block in which answers reach an agent.

mod admission;
mod answers_block;
mod respondent;

pub use admission::{Admission, RecordedAnswer, RequestPosition, admit};
pub use answers_block::{ShownAnswer, render};
pub use respondent::{Assurance, Respondent, RespondentKind};

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a request still takes answers that reach the agent, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// It takes answers.
    Waiting,
    /// It was answered and the agent continues. Only a request for which the session waits is ever answered.
    Answered,
    /// Its deadline passed.
    Expired,
    /// The session ended, or went on without an answer.
    Cancelled,
}

names!(RequestState { Waiting = "waiting", Answered = "answered", Expired = "expired", Cancelled = "cancelled" });

/// What happens to the session when no one answers in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExpiry {
    /// The agent continues and learns that no one answered.
    #[default]
    Resume,
    /// The session ends as expired. Only for a request for which the session waits.
    Fail,
}

names!(OnExpiry { Resume = "resume", Fail = "fail" });

/// How a request ended for the agent, as far as one answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Someone answered.
    Answered,
    /// Someone declined to answer.
    Declined,
    /// Someone closed the question without a word.
    Cancelled,
    /// No one answered in time.
    NobodyAnswered,
}

names!(Outcome {
    Answered = "answered", Declined = "declined", Cancelled = "cancelled", NobodyAnswered = "nobody_answered",
});

impl RequestState {
    /// The state that callers see. The row of a request is not written when its session ends, so a request that
    /// waits for a session that has ended is cancelled.
    #[must_use]
    pub const fn in_session(self, is_final: bool) -> Self {
        match self {
            Self::Waiting if is_final => Self::Cancelled,
            state => state,
        }
    }
}
