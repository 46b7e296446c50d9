//! The times until which people snooze causes of failures and items of the inbox.

use super::{instant_of, zone_of};
use crate::{Error, Result};
use chrono::{Datelike, Days, NaiveDate, NaiveDateTime, TimeDelta};
use domain::Timestamp;

/// Hours of "later today".
const LATER_HOURS: i64 = 3;
/// Local hour at which the choices of a day end.
const MORNING_HOUR: u32 = 9;
const WEEK_DAYS: u64 = 7;

/// The end of a snooze, as people choose it.
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
    /// Until this local time.
    At(NaiveDateTime),
}

impl SnoozeChoice {
    /// Returns the choice of a local time, which browsers send as `2026-01-31T09:30`, with or without seconds.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the field `at` if the text is no date and time.
    pub fn at(text: &str) -> Result<Self> {
        let read = text.parse::<NaiveDateTime>().or_else(|_| format!("{text}:00").parse());
        read.map(Self::At).map_err(|_| Error::invalid("at", "enter a date and a time, such as 2026-01-31T09:30"))
    }

    /// Returns the time that is meant in this time zone. A local time that clocks skip is a later one on that day; of a
    /// local time that exists twice it is the first.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such time zone, or the time is too far away.
    pub fn until(self, timezone: &str, now: Timestamp) -> Result<Timestamp> {
        let zone = zone_of(timezone)?;
        let today = now.with_timezone(&zone).date_naive();
        let days = |count: u64| today.checked_add_days(Days::new(count));
        let morning = |day: Option<NaiveDate>| day.and_then(|day| day.and_hms_opt(MORNING_HOUR, 0, 0));
        let (field, local) = match self {
            Self::Later => return Ok(now + TimeDelta::hours(LATER_HOURS)),
            Self::Tomorrow => ("until", morning(days(1))),
            Self::Monday => ("until", morning(days(WEEK_DAYS - u64::from(today.weekday().num_days_from_monday())))),
            Self::Day(day) => ("day", morning(Some(day))),
            Self::At(local) => ("at", Some(local)),
        };
        let until = local.and_then(|local| instant_of(local, zone));
        until.ok_or_else(|| Error::invalid(field, "a time that exists, such as 2026-01-31"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(choice: SnoozeChoice, zone: &str, now: &str) -> String {
        choice.until(zone, now.parse().unwrap()).unwrap().format("%d %H:%M").to_string()
    }

    #[test]
    fn the_morning_is_that_of_the_reader() {
        let until = |choice: SnoozeChoice, now: &str| until(choice, "Europe/Berlin", now);
        assert_eq!(until(SnoozeChoice::Later, "2026-11-28T22:00:00Z"), "29 01:00");
        assert_eq!(until(SnoozeChoice::Tomorrow, "2026-11-28T22:00:00Z"), "29 08:00");
        assert_eq!(until(SnoozeChoice::Tomorrow, "2026-11-28T23:30:00Z"), "30 08:00", "it is Sunday in Berlin");
        assert_eq!(until(SnoozeChoice::Monday, "2026-11-28T12:00:00Z"), "30 08:00");
        assert_eq!(until(SnoozeChoice::Monday, "2026-11-30T12:00:00Z"), "07 08:00");
        let day = SnoozeChoice::Day("2026-12-24".parse().unwrap());
        assert_eq!(until(day, "2026-11-28T12:00:00Z"), "24 08:00");
    }

    #[test]
    fn a_morning_is_at_nine_also_on_days_on_which_clocks_change() {
        let tomorrow = |zone: &str, now: &str| until(SnoozeChoice::Tomorrow, zone, now);
        assert_eq!(tomorrow("Europe/Berlin", "2027-03-27T12:00:00Z"), "28 07:00", "clocks go forward at 2:00");
        assert_eq!(tomorrow("Europe/Berlin", "2026-10-24T12:00:00Z"), "25 08:00", "clocks go back at 3:00");
        assert_eq!(tomorrow("America/New_York", "2027-03-13T12:00:00Z"), "14 13:00");
        assert_eq!(tomorrow("Pacific/Auckland", "2026-11-28T12:00:00Z"), "29 20:00", "it is the 29th in Auckland");
    }

    #[test]
    fn a_local_time_is_read_and_one_that_is_skipped_or_doubled_has_one_instant() {
        let at = |text: &str| until(SnoozeChoice::at(text).unwrap(), "Europe/Berlin", "2026-10-01T12:00:00Z");
        assert_eq!(at("2026-12-24T09:30"), "24 08:30");
        assert_eq!(at("2026-12-24T09:30:15"), "24 08:30");
        assert_eq!(at("2027-03-28T02:15"), "28 01:15", "2:15 does not exist: 3:15");
        assert_eq!(at("2026-10-25T02:15"), "25 00:15", "2:15 exists twice: the first");
        for wrong in ["", "soon", "2026-12-24", "2026-02-30T09:00"] {
            assert!(matches!(SnoozeChoice::at(wrong), Err(Error::Invalid(_))), "{wrong}");
        }
        let zone = SnoozeChoice::Later.until("Europe/Nowhere", "2026-10-01T12:00:00Z".parse().unwrap());
        assert!(matches!(zone, Err(Error::Invalid(_))), "{zone:?}");
    }
}
