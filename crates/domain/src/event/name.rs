//! The names of kinds. Any dotted lower-case name is a valid kind, whether Shiftbook knows it or not.

use super::kind::Known;
use crate::limit::KIND_BYTES_MAX;
use std::fmt;

/// The first word of a kind. It decides who may write events of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefix {
    /// Input of people to the session. The server's use cases write these events.
    User,
    /// Messages, tool calls and thinking of the agent.
    Agent,
    /// Changes of the session. The server writes these events; a worker may write `session.error` only.
    Session,
    /// Runs of tools.
    Tool,
    /// Activity of a person in the browser.
    Human,
    /// Events of other systems.
    External,
    /// JSON Patches of shared state.
    State,
    /// Any other prefix.
    Other,
}

/// A well-formed event kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kind(String);

/// The error for a text that is not an event kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an event type is a dotted lower-case name such as `agent.message`, at most {KIND_BYTES_MAX} bytes")]
pub struct InvalidKind;

impl Kind {
    /// Parses a kind: two or more words of `a-z 0-9 _` joined by dots. The first word starts with a letter.
    ///
    /// # Errors
    /// [`InvalidKind`] if the text has another form or is longer than [`KIND_BYTES_MAX`].
    pub fn parse(text: &str) -> Result<Self, InvalidKind> {
        let word =
            |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        let good = text.len() <= KIND_BYTES_MAX
            && text.contains('.')
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.split('.').all(word);
        if good { Ok(Self(text.to_owned())) } else { Err(InvalidKind) }
    }

    /// Returns the kind as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the kind as one that Shiftbook knows; `None` if it does not.
    pub fn known(&self) -> Option<Known> {
        Known::parse(&self.0)
    }

    /// Returns the prefix, which is the kind's first word.
    pub fn prefix(&self) -> Prefix {
        match self.0.split('.').next().unwrap_or_default() {
            "user" => Prefix::User,
            "agent" => Prefix::Agent,
            "session" => Prefix::Session,
            "tool" => Prefix::Tool,
            "human" => Prefix::Human,
            "external" => Prefix::External,
            "state" => Prefix::State,
            _ => Prefix::Other,
        }
    }
}

impl From<Known> for Kind {
    fn from(kind: Known) -> Self {
        Self(kind.as_str().to_owned())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_kind_is_well_formed() {
        for kind in Known::ALL {
            assert_eq!(Kind::parse(kind.as_str()).unwrap().known(), Some(kind));
            assert_eq!(Kind::from(kind).as_str(), kind.as_str());
        }
    }

    #[test]
    fn unknown_dotted_names_are_kinds_and_other_text_is_not() {
        assert!(Kind::parse("acme.build_finished.v2").is_ok());
        for bad in ["", "message", ".a", "a.", "a..b", "Agent.message", "agent message", "agent.\n", "1a.b", "a.é"] {
            assert!(Kind::parse(bad).is_err(), "{bad:?}");
        }
    }
}
