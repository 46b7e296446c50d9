//! The times for which failures are counted.

use crate::{clock::Timestamp, limit::CAUSE_TREND_PARTS, names::names};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A time range with a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Window {
    /// Since the caller last looked at the list. Seven days for a caller who never did, or who is no person.
    #[default]
    #[serde(rename = "visit")]
    Visit,
    /// The last 24 hours.
    #[serde(rename = "24h")]
    Day,
    /// The last weekend: Friday 17:00 to Monday 9:00, in the reader's time zone. It can still be under way.
    #[serde(rename = "weekend")]
    Weekend,
    /// The last seven days.
    #[serde(rename = "7d")]
    Week,
}

names!(Window { Visit = "visit", Day = "24h", Weekend = "weekend", Week = "7d" });

/// A time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first moment (UTC).
    pub since: Timestamp,
    /// The first moment after it (UTC).
    pub until: Timestamp,
}

impl Span {
    /// Returns in which of the [`CAUSE_TREND_PARTS`] equal parts of the range a time is. Times outside of the range are
    /// in the first or the last part.
    pub fn part(&self, at: Timestamp) -> usize {
        let parts = i64::try_from(CAUSE_TREND_PARTS).unwrap_or(i64::MAX);
        let micros = |from: Timestamp, to: Timestamp| (to - from).num_microseconds().unwrap_or(i64::MAX / parts);
        let length = micros(self.since, self.until).max(1);
        let part = micros(self.since, at).saturating_mul(parts) / length;
        usize::try_from(part.clamp(0, parts - 1)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::from_micros;

    #[test]
    fn a_range_has_equal_parts() {
        let span = Span { since: from_micros(1_000), until: from_micros(1_800) };
        let parts = [999, 1_000, 1_099, 1_100, 1_799, 1_800, 9_999].map(|at| span.part(from_micros(at)));
        assert_eq!(parts, [0, 0, 0, 1, 7, 7, 7]);
        let empty = Span { since: from_micros(5), until: from_micros(5) };
        assert_eq!(empty.part(from_micros(5)), 0);
    }
}
