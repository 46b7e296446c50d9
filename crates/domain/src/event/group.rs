//! The groups of kinds by which readers filter a log.

use super::kind::Known;

/// A group, shown as a filter chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Messages of people and agents.
    Messages,
    /// Tool calls and their results.
    Tools,
    /// The reasoning of agents.
    Thinking,
    /// Events that report an error.
    Errors,
    /// Changes of the session's status.
    State,
    /// Events of people's working sessions.
    People,
    /// Events from other systems.
    External,
    /// Kinds that Shiftbook does not know.
    Other,
}

impl Group {
    /// All groups, in the order of the chips.
    pub const ALL: [Self; 8] = [
        Self::Messages,
        Self::Tools,
        Self::Thinking,
        Self::Errors,
        Self::State,
        Self::People,
        Self::External,
        Self::Other,
    ];

    /// The name in addresses and markup.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Tools => "tools",
            Self::Thinking => "thinking",
            Self::Errors => "errors",
            Self::State => "state",
            Self::People => "people",
            Self::External => "external",
            Self::Other => "other",
        }
    }

    /// Returns the group with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.as_str() == name)
    }

    /// Returns the group of a kind. An unknown kind is in the group of those that begin with the same word.
    pub fn of(kind: &str) -> Self {
        if let Some(known) = Known::parse(kind) {
            return known.group();
        }
        match kind.split('.').next().unwrap_or_default() {
            "user" => Self::Messages,
            "tool" => Self::Tools,
            "session" | "state" => Self::State,
            "human" => Self::People,
            "external" => Self::External,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_kind_has_a_group_and_unknown_ones_have_that_of_their_first_word() {
        assert!(Known::ALL.into_iter().all(|kind| kind.group() != Group::Other));
        assert_eq!(Group::of("acme.build_finished"), Group::Other);
        assert_eq!(Group::of("session.archived"), Group::State);
    }
}
