//! Feedback on interactions, which are prompts with their answers, and the source of the feedback.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Feedback on an answer, ordered from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// The answer did not help.
    Negative,
    /// No opinion. It never becomes a label.
    Neutral,
    /// The answer helped.
    Positive,
}

/// The source of feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A person gave it about this answer.
    Manual,
    /// It was inferred from the next turn.
    OutcomeTracker,
    /// It follows from a reviewer's decision on a gate.
    Reviewer,
    /// A person rated the whole session. Exports read such ratings; they are never stored as interaction
    /// feedback.
    Session,
    /// It follows from a reviewer's decision on a proposal of the memory writer.
    MemoryWriter,
}

/// The state of an export of training data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportState {
    /// The export is running, or its server was killed while it ran.
    Running,
    /// The export is complete.
    Done,
    /// Someone stopped the export, or the server stopped.
    Stopped,
    /// The export failed.
    Failed,
}

names!(ExportState { Running = "running", Done = "done", Stopped = "stopped", Failed = "failed" });
names!(Feedback { Negative = "negative", Neutral = "neutral", Positive = "positive" });
names!(Source {
    Manual = "manual",
    OutcomeTracker = "outcome_tracker",
    Reviewer = "reviewer",
    Session = "session",
    MemoryWriter = "memory_writer",
});

/// Returns the feedback that follows from the ratings of a whole session: the majority of positive and negative
/// ratings. `None` for a draw. Skipped ratings do not count.
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
