//! Session feedback: a person's rating of an ended session. It is one label without a text.

use crate::{Timestamp, clock::truncate};
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

/// Version of the record's format.
pub const SCHEMA_VERSION: u32 = 1;
/// Time for which ratings are kept if a purge names none, days.
pub const RETENTION_DAYS: i64 = 180;
/// Time after a session's end for which people are asked to rate it, days. Later they would not remember it
/// well.
pub const ASKED_DAYS: i64 = 30;

/// The rating that a person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The session helped.
    Positive,
    /// The session did not help.
    Negative,
    /// The person was asked and skipped the rating. A skip is never counted as negative.
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

    /// Returns the label with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|label| label.as_str() == text)
    }
}

/// The place where a rating was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// `/end` of `shiftbook chat`.
    CliEnd,
    /// `/exit` of `shiftbook chat`.
    CliExit,
    /// A call of the API that ends a conversation.
    ApiEnd,
    /// A page in a browser.
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

    /// Returns the surface with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.as_str() == text)
    }
}

/// Formats a time as ISO 8601 in UTC with microseconds and a `Z`. All such texts have the same length and sort
/// by time.
pub fn iso(at: Timestamp) -> String {
    truncate(at).format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// Returns the time before which ratings may be purged: [`RETENTION_DAYS`] before `now`.
pub fn purge_before(now: Timestamp) -> Timestamp {
    now - TimeDelta::days(RETENTION_DAYS)
}

/// Returns the earliest end of a session about which people are asked: [`ASKED_DAYS`] before `now`.
pub fn earliest_end(now: Timestamp) -> Timestamp {
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
