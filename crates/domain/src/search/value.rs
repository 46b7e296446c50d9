//! Quantities and days of searches, as they are typed and printed.

use crate::Timestamp;
use chrono::{Datelike, Days, NaiveDate, SecondsFormat, TimeDelta, Weekday};
use std::fmt;

/// Days and times that a search can name, as examples.
pub(super) const EXAMPLE_DAYS: &str = "2026-11-25, 2026-11-25T06:00:00Z, today, yesterday, fri, 24h, 7d or 2w";
/// Durations that a search can name, as examples.
pub(super) const EXAMPLE_DURATIONS: &str = "90s, 2m, 1h30m or 2d";

/// Most digits after the point of a cost.
const COST_DIGITS: usize = 6;
/// Most digits before the point of a cost, and of each number of a duration.
const DIGITS_MAX: usize = 9;
/// Units of a duration in milliseconds, the largest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// Longest duration that a search can name, milliseconds: 100 years.
const DURATION_MAX: u64 = 36_500 * 86_400_000;
/// Units of a time before now, minutes.
const AGO_UNITS: [(&str, u32); 4] = [("m", 1), ("h", 60), ("d", 1_440), ("w", 10_080)];
/// Longest time before now that a search can name, minutes: 100 years.
const AGO_MINUTES_MAX: u32 = 52_560_000;
/// Length of a day as `2026-11-25`.
const DATE_CHARS: usize = 10;

/// How a quantity is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `:` or `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl Comparison {
    /// The comparison that these characters begin with, and its length.
    pub(super) fn read(letters: &[char]) -> Option<(Self, usize)> {
        Some(match letters {
            ['<', '=', ..] => (Self::AtMost, 2),
            ['>', '=', ..] => (Self::AtLeast, 2),
            ['<', ..] => (Self::Less, 1),
            ['>', ..] => (Self::More, 1),
            _ => return None,
        })
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => ":",
            Self::AtLeast => ">=",
            Self::More => ">",
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A quantity and how it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure<T> {
    /// The comparison of the quantity of a session with the value.
    pub comparison: Comparison,
    /// The value of the search.
    pub value: T,
}

/// A cost in millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(pub u64);

impl Usd {
    /// Reads `0.5`, `.5`, `12` or `$12`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('$').unwrap_or(text);
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |text: &str, max| text.len() <= max && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole, DIGITS_MAX) || !is_number(part, COST_DIGITS) || (whole.is_empty() && part.is_empty()) {
            return None;
        }
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let part: u64 = format!("{part:0<COST_DIGITS$}").parse().ok()?;
        Some(Self(whole * 1_000_000 + part))
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 1_000_000, format!("{:06}", self.0 % 1_000_000));
        let part = part.trim_end_matches('0');
        if part.is_empty() { write!(f, "{whole}") } else { write!(f, "{whole}.{part}") }
    }
}

/// A time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

impl Duration {
    /// Reads `90s`, `2m` or `1h30m`: whole numbers with units, the largest first.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mut rest, mut millis, mut units) = (text, 0_u64, &UNITS[..]);
        while !rest.is_empty() {
            let (number, unit, after) = number_and_unit(rest)?;
            let place = units.iter().position(|(name, _)| name.eq_ignore_ascii_case(unit))?;
            millis += number * units[place].1;
            (units, rest) = (&units[place + 1..], after);
        }
        (!text.is_empty() && millis <= DURATION_MAX).then_some(Self(millis))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut left = self.0;
        for (name, millis) in UNITS {
            if left >= millis {
                write!(f, "{}{name}", left / millis)?;
                left %= millis;
            }
        }
        Ok(())
    }
}

/// A number, the letters after it, and the rest.
fn number_and_unit(text: &str) -> Option<(u64, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = text.split_at(digits);
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(letters);
    if number.len() > DIGITS_MAX {
        return None;
    }
    Some((number.parse().ok()?, unit, rest))
}

/// A day or a time of a search. What is relative stays so, so that a saved search goes with the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Day {
    /// `2026-11-25`: the beginning of the day.
    Date(NaiveDate),
    /// `today`
    Today,
    /// `yesterday`
    Yesterday,
    /// `fri` or `friday`: the beginning of the last such day, which can be today.
    Last(Weekday),
    /// `90m`, `24h`, `7d` or `2w`: minutes before now.
    Ago(u32),
    /// `2026-11-25T06:00:00Z`
    At(Timestamp),
}

impl Day {
    /// Reads a day or a time.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        match lower.as_str() {
            "today" => return Some(Self::Today),
            "yesterday" => return Some(Self::Yesterday),
            _ => {}
        }
        if lower.len() >= 3
            && lower.bytes().all(|byte| byte.is_ascii_alphabetic())
            && let Ok(day) = lower.parse::<Weekday>()
        {
            return Some(Self::Last(day));
        }
        // chrono also reads years of more than four digits.
        if text.len() == DATE_CHARS {
            return text.parse().ok().map(Self::Date);
        }
        if let Some((number, unit, "")) = number_and_unit(&lower) {
            let (_, minutes) = AGO_UNITS.into_iter().find(|(name, _)| *name == unit)?;
            let ago = u32::try_from(number).ok()?.checked_mul(minutes)?;
            return (ago <= AGO_MINUTES_MAX).then_some(Self::Ago(ago));
        }
        let at = chrono::DateTime::parse_from_rfc3339(text).ok()?.to_utc();
        // Times that databases store are whole microseconds.
        (0..=9_999).contains(&at.year()).then(|| Self::At(crate::clock::truncate(at)))
    }

    /// The time that it is. `now` is the time of the search, `today` its day where the reader is, and `begins` says
    /// when a day begins there.
    pub fn time(self, now: Timestamp, today: NaiveDate, begins: impl Fn(NaiveDate) -> Timestamp) -> Timestamp {
        match self {
            Self::Date(day) => begins(day),
            Self::Today => begins(today),
            Self::Yesterday => begins(today - Days::new(1)),
            Self::Last(day) => {
                let since = (7 + today.weekday().num_days_from_monday() - day.num_days_from_monday()) % 7;
                begins(today - Days::new(u64::from(since)))
            }
            Self::Ago(minutes) => now - TimeDelta::minutes(i64::from(minutes)),
            Self::At(at) => at,
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(day) => write!(f, "{day}"),
            Self::Today => f.write_str("today"),
            Self::Yesterday => f.write_str("yesterday"),
            Self::Last(day) => f.write_str(&day.to_string().to_ascii_lowercase()),
            Self::Ago(minutes) => {
                let units = AGO_UNITS.into_iter().rev();
                // Days are usual up to two weeks: `7d` stays as it was typed.
                let mut fitting =
                    units.filter(|(name, unit)| minutes % unit == 0 && (*name != "w" || *minutes > 20_160));
                let (name, unit) = fitting.next().unwrap_or(("m", 1));
                write!(f, "{}{name}", minutes / unit)
            }
            Self::At(at) => f.write_str(&at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_and_printed_in_one_way() {
        for (text, printed) in [("0.50", "0.5"), ("$12", "12"), (".000001", "0.000001"), ("0", "0"), ("7.", "7")] {
            assert_eq!(Usd::parse(text).map(|cost| cost.to_string()).as_deref(), Some(printed), "{text}");
        }
        for text in ["", ".", "-1", "1e3", "0.1234567", "1234567890", "a", "1,5", "+1"] {
            assert_eq!(Usd::parse(text), None, "{text}");
        }
        for (text, printed) in [("120s", "2m"), ("1h30M", "1h30m"), ("0m", "0s"), ("1500ms", "1s500ms"), ("24h", "1d")]
        {
            assert_eq!(Duration::parse(text).map(|time| time.to_string()).as_deref(), Some(printed), "{text}");
        }
        for text in ["", "2", "m", "1m1h", "1m1m", "2 m", "-1m", "1.5h", "1y", "99999999999d", "36501d"] {
            assert_eq!(Duration::parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_those_of_the_reader_and_go_with_the_time() {
        let now: Timestamp = "2026-11-29T01:30:00Z".parse().unwrap();
        // A Saturday, five hours behind.
        let today: NaiveDate = "2026-11-28".parse().unwrap();
        let begins = |day: NaiveDate| day.and_hms_opt(5, 0, 0).unwrap().and_utc();
        for (text, printed, at) in [
            ("2026-11-25", "2026-11-25", "2026-11-25T05:00:00Z"),
            ("TODAY", "today", "2026-11-28T05:00:00Z"),
            ("yesterday", "yesterday", "2026-11-27T05:00:00Z"),
            ("Friday", "fri", "2026-11-27T05:00:00Z"),
            ("sat", "sat", "2026-11-28T05:00:00Z"),
            ("sun", "sun", "2026-11-22T05:00:00Z"),
            ("mon", "mon", "2026-11-23T05:00:00Z"),
            ("90m", "90m", "2026-11-29T00:00:00Z"),
            ("24h", "1d", "2026-11-28T01:30:00Z"),
            ("7d", "7d", "2026-11-22T01:30:00Z"),
            ("3w", "3w", "2026-11-08T01:30:00Z"),
            ("2026-11-25T06:00:00+02:00", "2026-11-25T04:00:00Z", "2026-11-25T04:00:00Z"),
        ] {
            let day = Day::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(day.to_string(), printed, "{text}");
            assert_eq!(day.time(now, today, begins), at.parse::<Timestamp>().unwrap(), "{text}");
        }
        for text in ["", "f", "fr", "2026-13-01", "26-11-25", "7", "7y", "tomorrow", "2026-11-25T06:00", "99999999999w"]
        {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }
}
