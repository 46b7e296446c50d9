//! Prompts with answers: what may be thought of one, and who thinks it.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What somebody or something thinks of an answer. Ordered from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// It did not help.
    Negative,
    /// No opinion, which is no label either.
    Neutral,
    /// It helped.
    Positive,
}

/// Where feedback comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A person said so about this answer.
    Manual,
    /// Inferred from the next turn.
    OutcomeTracker,
    /// A reviewer decided about it at a gate.
    Reviewer,
    /// A person rated the whole session; read at export, never stored here.
    Session,
}

/// Where an export of training data stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportState {
    /// At work, or cut off with its server.
    Running,
    /// Made.
    Done,
    /// Somebody stopped it, or the server did.
    Stopped,
    /// It could not be made.
    Failed,
}

names!(ExportState { Running = "running", Done = "done", Stopped = "stopped", Failed = "failed" });
names!(Feedback { Negative = "negative", Neutral = "neutral", Positive = "positive" });
names!(Source { Manual = "manual", OutcomeTracker = "outcome_tracker", Reviewer = "reviewer", Session = "session" });

/// The feedback that ratings of a whole session amount to: what most people say. Skipped ratings say nothing, and neither
/// does a draw.
pub fn of_ratings(positive: u64, negative: u64) -> Option<Feedback> {
    match positive.cmp(&negative) {
        std::cmp::Ordering::Greater => Some(Feedback::Positive),
        std::cmp::Ordering::Less => Some(Feedback::Negative),
        std::cmp::Ordering::Equal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written_and_a_draw_says_nothing() {
        assert!(Feedback::ALL.into_iter().all(|feedback| Feedback::parse(feedback.as_str()) == Some(feedback)));
        assert!(Source::ALL.into_iter().all(|source| Source::parse(source.as_str()) == Some(source)));
        assert_eq!((Feedback::parse("skip"), Source::parse("")), (None, None));
        assert_eq!((of_ratings(0, 0), of_ratings(2, 2)), (None, None));
        assert_eq!((of_ratings(2, 1), of_ratings(0, 1)), (Some(Feedback::Positive), Some(Feedback::Negative)));
    }
}
