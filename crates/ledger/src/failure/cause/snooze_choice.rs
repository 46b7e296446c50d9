//! The times until which people snooze a cause.

use crate::{
    Error, Result,
    work_queue::{day_begins, zone_of},
};
use chrono::{Datelike, Days, NaiveDate, TimeDelta};
use domain::Timestamp;

/// Hours of "later today".
const LATER_HOURS: i64 = 3;
/// Local hour at which the other choices end.
const MORNING_HOUR: i64 = 9;
const WEEK_DAYS: u64 = 7;

/// Until when a cause is snoozed, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnoozeChoice {
    /// For three hours.
    Later,
    /// Until 9:00 tomorrow.
    Tomorrow,
    /// Until 9:00 next Monday.
    Monday,
    /// Until 9:00 on this day.
    Day(NaiveDate),
}

impl SnoozeChoice {
    /// Returns the time that is meant in this time zone.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such time zone, or the day is too far away.
    pub fn until(self, timezone: &str, now: Timestamp) -> Result<Timestamp> {
        let zone = zone_of(timezone)?;
        let today = now.with_timezone(&zone).date_naive();
        let days = |count: u64| today.checked_add_days(Days::new(count));
        let day = match self {
            Self::Later => return Ok(now + TimeDelta::hours(LATER_HOURS)),
            Self::Tomorrow => days(1),
            Self::Monday => days(WEEK_DAYS - u64::from(today.weekday().num_days_from_monday())),
            Self::Day(day) => Some(day),
        };
        let begins = day.and_then(|day| day_begins(day, zone));
        let begins = begins.ok_or_else(|| Error::invalid("day", "a day that exists, such as 2026-01-31"))?;
        Ok(begins + TimeDelta::hours(MORNING_HOUR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_morning_is_that_of_the_reader() {
        let until = |choice: SnoozeChoice, now: &str| {
            choice.until("Europe/Berlin", now.parse().unwrap()).unwrap().format("%d %H:%M").to_string()
        };
        assert_eq!(until(SnoozeChoice::Later, "2026-11-28T22:00:00Z"), "29 01:00");
        assert_eq!(until(SnoozeChoice::Tomorrow, "2026-11-28T22:00:00Z"), "29 08:00");
        assert_eq!(until(SnoozeChoice::Tomorrow, "2026-11-28T23:30:00Z"), "30 08:00", "it is Sunday in Berlin");
        assert_eq!(until(SnoozeChoice::Monday, "2026-11-28T12:00:00Z"), "30 08:00");
        assert_eq!(until(SnoozeChoice::Monday, "2026-11-30T12:00:00Z"), "07 08:00");
        let day = SnoozeChoice::Day("2026-12-24".parse().unwrap());
        assert_eq!(until(day, "2026-11-28T12:00:00Z"), "24 08:00");
    }
}
