//! The figures themselves.

use crate::{outcome::Outcome, session_feedback::Label};

/// What people said of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ratings {
    /// It helped.
    pub positive: u64,
    /// It did not.
    pub negative: u64,
    /// Asked, and not answered either way.
    pub skipped: u64,
}

impl Ratings {
    /// Ratings of all kinds.
    pub fn count(self) -> u64 {
        self.positive + self.negative + self.skipped
    }

    /// The share of positive answers among the answers, 0 to 1; `None` without one. A skip is no answer.
    pub fn helpful(self) -> Option<f64> {
        share(self.positive, self.positive + self.negative)
    }

    /// Counts one more.
    pub fn count_in(&mut self, label: Label) {
        match label {
            Label::Positive => self.positive += 1,
            Label::Negative => self.negative += 1,
            Label::Skip => self.skipped += 1,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.positive += other.positive;
        self.negative += other.negative;
        self.skipped += other.skipped;
    }
}

/// What became of answers, as inferred from what was said next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// They helped.
    pub accepted: u64,
    /// They did not.
    pub rejected: u64,
    /// What was said next says neither.
    pub neutral: u64,
    /// Nothing was said next.
    pub unknown: u64,
}

impl Outcomes {
    /// Answers.
    pub fn count(self) -> u64 {
        self.accepted + self.rejected + self.neutral + self.unknown
    }

    /// Counts one more.
    pub(super) fn count_in(&mut self, outcome: Option<Outcome>) {
        match outcome {
            Some(Outcome::Accepted) => self.accepted += 1,
            Some(Outcome::Rejected) => self.rejected += 1,
            Some(Outcome::Neutral) => self.neutral += 1,
            None => self.unknown += 1,
        }
    }
}

/// How gates ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Approved as staged.
    pub approved: u64,
    /// Approved with changes.
    pub edited: u64,
    /// Denied.
    pub denied: u64,
    /// Answered.
    pub answered: u64,
    /// Nobody decided in time.
    pub expired: u64,
}

impl Decisions {
    /// Approvals, edits and denials: what the rates are of.
    pub fn judged(self) -> u64 {
        self.approved + self.edited + self.denied
    }

    /// The shares of approvals, edits and denials among what was judged, each 0 to 1; `None` if nothing was.
    pub fn rates(self) -> Option<[f64; 3]> {
        let judged = self.judged();
        Some([share(self.approved, judged)?, share(self.edited, judged)?, share(self.denied, judged)?])
    }

    /// Gates of all ends.
    pub fn count(self) -> u64 {
        self.judged() + self.answered + self.expired
    }
}

/// How long agents waited for people, of gates that people decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Gates.
    pub count: u64,
    /// The middle one, in seconds.
    pub median_seconds: u64,
    /// Nine of ten waited no longer, in seconds.
    pub p90_seconds: u64,
    /// All together, in seconds.
    pub total_seconds: u64,
}

impl Waits {
    /// Of these waits, in seconds. The middle of an even number is the lower one, so that every figure is a wait that
    /// happened.
    pub(super) fn of(mut seconds: Vec<u64>) -> Self {
        seconds.sort_unstable();
        let rank = |share: f64| {
            let rank = (share * seconds.len() as f64).ceil() as usize;
            seconds.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Self {
            count: seconds.len() as u64,
            median_seconds: rank(0.5),
            p90_seconds: rank(0.9),
            total_seconds: seconds.iter().sum(),
        }
    }
}

/// Everything that is counted of one day, one agent, one action, or the whole window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Agent sessions that ended.
    pub sessions: u64,
    /// Of these, those that completed.
    pub completed: u64,
    /// Of these, those that failed or expired.
    pub failed: u64,
    /// What people said of them.
    pub ratings: Ratings,
    /// Sessions that nobody rated.
    pub unrated: u64,
    /// What became of answers.
    pub outcomes: Outcomes,
    /// How gates ended.
    pub decisions: Decisions,
    /// How long agents waited for people.
    pub waits: Waits,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Dollars, of the sessions that reported a cost.
    pub cost_usd: f64,
    /// Sessions that reported a cost.
    pub priced: u64,
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
