//! Whether it helped: figures over a window of days, as sums of facts about sessions and decisions.
//!
//! What nobody said is counted as unknown, never as bad: a rate is always of the answers that were given, beside the
//! number of sessions that nobody rated.

mod figures;
mod tally;

pub use figures::{Decisions, Figures, Outcomes, Ratings, Waits};
pub use tally::{AnswerFact, GateFact, Insights, Part, SessionFact, Tally};

use crate::Timestamp;
use chrono::{Days, NaiveDate};

/// Whole UTC days, the last one included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first day.
    pub first: NaiveDate,
    /// The last day.
    pub last: NaiveDate,
}

impl Window {
    /// The `days` days that end with the one of `now`; at least one.
    pub fn ending(now: Timestamp, days: u32) -> Self {
        let last = now.date_naive();
        let first = last.checked_sub_days(Days::new(u64::from(days.max(1)) - 1)).unwrap_or(last);
        Self { first, last }
    }

    /// Its days in order.
    pub fn days(self) -> impl Iterator<Item = NaiveDate> {
        self.first.iter_days().take_while(move |day| *day <= self.last)
    }

    /// Where the day of an instant lies among [`Window::days`]; `None` outside.
    pub fn place(self, at: Timestamp) -> Option<usize> {
        let day = at.date_naive();
        (day <= self.last).then(|| usize::try_from((day - self.first).num_days()).ok()).flatten()
    }

    /// Its first instant.
    pub fn begins(self) -> Timestamp {
        self.first.and_time(chrono::NaiveTime::MIN).and_utc()
    }
}
