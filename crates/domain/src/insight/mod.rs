//! Insights: figures about sessions, decisions and answers over a window of days.
//!
//! A missing rating counts as unknown, never as negative. A rate is the share among the ratings that were
//! given, and the number of sessions without a rating is reported beside it.

mod figures;
mod tally;
mod tool;

pub use figures::{Decisions, Figures, Outcomes, Ratings, Waits};
pub use tally::{AnswerFact, GateFact, Insights, Part, SessionFact, Tally};
pub use tool::{ToolFact, ToolFigures};

use crate::Timestamp;
use chrono::{Days, NaiveDate};

/// A range of whole UTC days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First day of the window.
    pub first: NaiveDate,
    /// Last day of the window.
    pub last: NaiveDate,
}

impl Window {
    /// Returns the window of `days` days (at least one) that ends with the day of `now`.
    pub fn ending(now: Timestamp, days: u32) -> Self {
        let last = now.date_naive();
        let first = last.checked_sub_days(Days::new(u64::from(days.max(1)) - 1)).unwrap_or(last);
        Self { first, last }
    }

    /// Returns the days of the window in order.
    pub fn days(self) -> impl Iterator<Item = NaiveDate> {
        self.first.iter_days().take_while(move |day| *day <= self.last)
    }

    /// Returns the index of the day of `at` among [`Window::days`]; `None` if it is outside the window.
    pub fn place(self, at: Timestamp) -> Option<usize> {
        let day = at.date_naive();
        (day <= self.last).then(|| usize::try_from((day - self.first).num_days()).ok()).flatten()
    }

    /// Returns the first instant of the window (UTC).
    pub fn begins(self) -> Timestamp {
        self.first.and_time(chrono::NaiveTime::MIN).and_utc()
    }
}
