//! What a person says of a session when it has ended: one label, and nothing in words.

use crate::{Timestamp, clock::truncate};
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

/// The version of the record's shape.
pub const SCHEMA_VERSION: u32 = 1;
/// How long ratings are kept when a purge does not say, days.
pub const RETENTION_DAYS: i64 = 180;
/// For how long people are asked about a session that has ended, days: what they remember of it.
pub const ASKED_DAYS: i64 = 30;

/// A person's explicit choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// It helped.
    Positive,
    /// It did not.
    Negative,
    /// Asked, and rather not said. Never counted as negative.
    Skip,
}

impl Label {
    /// All labels.
    pub const ALL: [Self; 3] = [Self::Positive, Self::Negative, Self::Skip];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Negative => "negative",
            Self::Skip => "skip",
        }
    }

    /// The label of a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.as_str() == text)
    }
}

/// Where a rating was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// `/end` of `shiftbook chat`.
    CliEnd,
    /// `/exit` of `shiftbook chat`.
    CliExit,
    /// A program.
    ApiEnd,
    /// A browser.
    WebEnd,
}

impl Surface {
    /// All surfaces.
    pub const ALL: [Self; 4] = [Self::CliEnd, Self::CliExit, Self::ApiEnd, Self::WebEnd];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CliEnd => "cli_end",
            Self::CliExit => "cli_exit",
            Self::ApiEnd => "api_end",
            Self::WebEnd => "web_end",
        }
    }

    /// The surface of a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.as_str() == text)
    }
}

/// ISO-8601 in UTC with microseconds and a Z, always as long: such texts sort by time.
pub fn iso(at: Timestamp) -> String {
    truncate(at).format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// What is older than this has been kept long enough.
pub fn kept_since(now: Timestamp) -> Timestamp {
    now - TimeDelta::days(RETENTION_DAYS)
}

/// Nobody is asked about what ended before this.
pub fn asked_since(now: Timestamp) -> Timestamp {
    now - TimeDelta::days(ASKED_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_times_are_all_as_long() {
        for label in Label::ALL {
            assert_eq!(Label::parse(label.as_str()), Some(label));
        }
        for surface in Surface::ALL {
            assert_eq!(Surface::parse(surface.as_str()), Some(surface));
        }
        assert_eq!((Label::parse("good"), Surface::parse("")), (None, None));
        for (text, expected) in [
            ("2026-11-21T08:00:00Z", "2026-11-21T08:00:00.000000Z"),
            ("2026-11-21T09:00:00.25+01:00", "2026-11-21T08:00:00.250000Z"),
        ] {
            let at: Timestamp = text.parse().unwrap();
            assert_eq!(iso(at), expected);
            assert_eq!(iso(at).parse::<Timestamp>().unwrap(), at);
        }
    }
}
