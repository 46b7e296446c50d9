//! The figures that insights report.

use crate::{outcome::Outcome, session_feedback::Label};

/// Counts of ratings of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ratings {
    /// Ratings that say that the session helped.
    pub positive: u64,
    /// Ratings that say that it did not help.
    pub negative: u64,
    /// Ratings that were skipped.
    pub skipped: u64,
}

impl Ratings {
    /// Number of ratings, skipped ones included.
    pub fn count(self) -> u64 {
        self.positive + self.negative + self.skipped
    }

    /// Share of positive ratings among positive and negative ones, 0 to 1; `None` if there are none. Skipped
    /// ratings do not count.
    pub fn helpful(self) -> Option<f64> {
        share(self.positive, self.positive + self.negative)
    }

    /// Adds one rating.
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

/// Counts of answers by their inferred outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Answers that helped.
    pub accepted: u64,
    /// Answers that did not help.
    pub rejected: u64,
    /// Answers whose next message is no evidence for either.
    pub neutral: u64,
    /// Answers that no message has followed.
    pub unknown: u64,
}

impl Outcomes {
    /// Number of answers.
    pub fn count(self) -> u64 {
        self.accepted + self.rejected + self.neutral + self.unknown
    }

    /// Adds one answer; `None` if no message has followed.
    pub(super) fn count_in(&mut self, outcome: Option<Outcome>) {
        match outcome {
            Some(Outcome::Accepted) => self.accepted += 1,
            Some(Outcome::Rejected) => self.rejected += 1,
            Some(Outcome::Neutral) => self.neutral += 1,
            None => self.unknown += 1,
        }
    }
}

/// Counts of gates by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Gates that were approved without changes.
    pub approved: u64,
    /// Gates that were approved with changes.
    pub edited: u64,
    /// Gates that were denied.
    pub denied: u64,
    /// Gates that were answered: questions, and calls answered in place of the tool.
    pub answered: u64,
    /// Gates that expired without a decision.
    pub expired: u64,
}

impl Decisions {
    /// Number of approvals, edits and denials: the base of [`Decisions::rates`].
    pub fn judged(self) -> u64 {
        self.approved + self.edited + self.denied
    }

    /// Shares of approvals, edits and denials among [`Decisions::judged`], each 0 to 1; `None` if there are
    /// none.
    pub fn rates(self) -> Option<[f64; 3]> {
        let judged = self.judged();
        Some([share(self.approved, judged)?, share(self.edited, judged)?, share(self.denied, judged)?])
    }

    /// Number of gates, answered and expired ones included.
    pub fn count(self) -> u64 {
        self.judged() + self.answered + self.expired
    }
}

/// Statistics of how long decided gates waited for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Number of gates.
    pub count: u64,
    /// Median wait, seconds.
    pub median_seconds: u64,
    /// 90th percentile of the waits, seconds.
    pub p90_seconds: u64,
    /// Sum of the waits, seconds.
    pub total_seconds: u64,
}

impl Waits {
    /// Computes the statistics of waits in seconds. The median of an even number of waits is the lower of the
    /// two middle ones, so that median and percentile are waits that occurred.
    pub(super) fn of(mut seconds: Vec<u64>) -> Self {
        seconds.sort_unstable();
        let rank = |share| nearest_rank(&seconds, share).unwrap_or_default();
        Self {
            count: seconds.len() as u64,
            median_seconds: rank(0.5),
            p90_seconds: rank(0.9),
            total_seconds: seconds.iter().sum(),
        }
    }
}

/// The figures of one day, one agent, one action, or the whole window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Number of agent sessions that ended.
    pub sessions: u64,
    /// Number of these sessions that completed.
    pub completed: u64,
    /// Number of these sessions that failed or expired.
    pub failed: u64,
    /// Ratings of these sessions.
    pub ratings: Ratings,
    /// Number of these sessions without a rating. Sessions whose ratings cannot be read are not counted.
    pub unrated: u64,
    /// Inferred outcomes of answers.
    pub outcomes: Outcomes,
    /// Ends of gates.
    pub decisions: Decisions,
    /// Waits of decided gates.
    pub waits: Waits,
    /// Input tokens of the sessions that reported them.
    pub input_tokens: u64,
    /// Output tokens of the sessions that reported them.
    pub output_tokens: u64,
    /// Number of sessions that reported tokens.
    pub metered: u64,
    /// Cost of the sessions that reported one, US dollars.
    pub cost_usd: f64,
    /// Number of sessions that reported a cost.
    pub priced: u64,
}

/// Returns the value of nearest rank among sorted values: the smallest one that at least this share (0 to 1) does not
/// exceed. `None` without values.
pub(super) fn nearest_rank(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
