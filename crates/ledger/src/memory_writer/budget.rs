//! What a writer may spend on one day, and why a run that is due does not begin.

use super::WriterTerms;
use chrono::TimeDelta;
use domain::{Timestamp, count::grouped, memory_writer::run::RunWaitsFor};
use std::fmt;
use store::memory_writer::{Spent, WriterRecord};

const DAY_SECONDS: i64 = 86_400;
/// Time after which a server that has not looked for an agent's work does not count as its writer.
pub(super) const LOOKED_WITHIN: TimeDelta = TimeDelta::minutes(3);

/// Why a run that was asked for does not begin at once. As a text it ends without a full stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushWait {
    /// No running server has a writer for the agent.
    Writer,
    /// The runs of the day are used up.
    Runs {
        /// Number of runs that the settings allow.
        most: u32,
        /// Beginning of the next day (UTC).
        until: Timestamp,
    },
    /// The tokens of the day are used up.
    Tokens {
        /// Number of tokens that were used.
        spent: u64,
        /// Number of tokens that the settings allow.
        most: u64,
        /// Beginning of the next day (UTC).
        until: Timestamp,
    },
}

impl FlushWait {
    /// What the run waits for, without the figures.
    pub const fn waits_for(self) -> RunWaitsFor {
        match self {
            Self::Writer => RunWaitsFor::Writer,
            Self::Runs { .. } => RunWaitsFor::Runs,
            Self::Tokens { .. } => RunWaitsFor::Tokens,
        }
    }

    /// Time from which the run can begin (UTC); `None` if no time is known.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::Writer => None,
            Self::Runs { until, .. } | Self::Tokens { until, .. } => Some(until),
        }
    }
}

impl fmt::Display for FlushWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Writer => f.write_str(
                "no server at work has a memory writer for this agent: its model is named in the table [memory] of the \
                 settings file, and `shiftbook serve --no-agents` runs no writers",
            ),
            Self::Runs { most, .. } => {
                write!(f, "the budget of today (UTC) is used up: runs_per_day is {}", grouped(u64::from(*most)))
            }
            Self::Tokens { spent, most, .. } => {
                let (spent, most) = (grouped(*spent), grouped(*most));
                write!(f, "the budget of today (UTC) is used up: {spent} tokens are used, and tokens_per_day is {most}")
            }
        }
    }
}

/// What was spent on the day of `now`.
pub fn spent_today(spent: Spent, now: Timestamp) -> Spent {
    let day = now.timestamp().div_euclid(DAY_SECONDS);
    if spent.day == day { spent } else { Spent { day, ..Spent::default() } }
}

/// Returns what of the day's budget is used up, if anything is.
pub(super) fn used_up(spent: Spent, terms: &WriterTerms, now: Timestamp) -> Option<FlushWait> {
    let spent = spent_today(spent, now);
    let until = Timestamp::from_timestamp((spent.day + 1) * DAY_SECONDS, 0).unwrap_or(now);
    if spent.runs >= terms.runs_per_day {
        return Some(FlushWait::Runs { most: terms.runs_per_day, until });
    }
    (spent.tokens >= terms.tokens_per_day).then_some(FlushWait::Tokens {
        spent: spent.tokens,
        most: terms.tokens_per_day,
        until,
    })
}

/// Whether a server has looked for the agent's work lately.
pub(super) fn is_at_work(writer: Option<&WriterRecord>, now: Timestamp) -> bool {
    writer.is_some_and(|writer| now - writer.tracked_until < LOOKED_WITHIN)
}

/// Returns why a run that is asked for now does not begin within seconds. `terms` are those of this server; `None` if
/// it has no writer for the agent. The budget that another server allows is not known.
pub fn waits(writer: Option<&WriterRecord>, terms: Option<&WriterTerms>, now: Timestamp) -> Option<FlushWait> {
    match terms {
        Some(terms) => used_up(writer.map(|writer| writer.spent).unwrap_or_default(), terms, now),
        None => (!is_at_work(writer, now)).then_some(FlushWait::Writer),
    }
}
