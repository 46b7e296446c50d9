//! Warnings that a worker records with what an agent printed.

use super::payload::Members;

/// What was wrong with a line that an agent printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings {
    /// Where bytes were that are not UTF-8, for people.
    pub not_utf8: Option<String>,
    /// Why the line is not the event that it was meant to be.
    pub not_an_event: Option<String>,
    /// Number of the line in the output.
    pub line: Option<String>,
}

impl Warnings {
    /// Reads the warnings in the metadata of an event of any kind.
    pub fn read(metadata: &str) -> Self {
        // Most events have none, and parsing each costs more than the search.
        if !metadata.contains("invalidUtf8") && !metadata.contains("notAnEvent") {
            return Self::default();
        }
        let members = Members::read(metadata);
        let line = members.text(&["line"]);
        let first = || {
            let column = members.text(&["column"]).unwrap_or_default();
            let line = line.as_deref().unwrap_or_default();
            format!("line {line}, column {column}: bytes that are not UTF-8 became U+FFFD")
        };
        let is_cut = members.text(&["invalidUtf8"]).is_some();
        Self {
            not_utf8: is_cut.then(|| members.text(&["repairs"]).unwrap_or_else(first)),
            not_an_event: members.text(&["notAnEvent"]),
            line,
        }
    }
}
