//! The groups of event kinds by which readers filter a log.

use domain::event::KNOWN;
use std::collections::BTreeMap;

/// A valid kind that no event has.
const NO_KIND: &str = "shiftbook.none";

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

    /// The label of the chip.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Messages => "Messages",
            Self::Tools => "Tools",
            Self::Thinking => "Thinking",
            Self::Errors => "Errors",
            Self::State => "State",
            Self::People => "People",
            Self::External => "External",
            Self::Other => "Other",
        }
    }

    /// The group of a kind; every kind has one.
    pub fn of(kind: &str) -> Self {
        match kind {
            "session.error" | "tool.invocation_failed" => return Self::Errors,
            "agent.thinking" => return Self::Thinking,
            "agent.tool_call" | "agent.tool_result" | "user.tool_result" | "user.tool_confirmation" => {
                return Self::Tools;
            }
            "agent.message" => return Self::Messages,
            _ => {}
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

    /// The group with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.as_str() == name)
    }
}

/// The groups in `?kinds=`; unknown names are ignored.
pub fn parse_groups(kinds: &str) -> Vec<Group> {
    Group::ALL.into_iter().filter(|group| kinds.split(',').any(|name| Group::parse(name) == Some(*group))).collect()
}

/// The event types to read for `?kinds=`; empty for all. `counted` are the kinds that the session has, which are
/// needed for the group `Other`.
pub fn types_of_groups(kinds: &str, counted: &[(String, u64)]) -> Vec<String> {
    let groups = parse_groups(kinds);
    let mut types: Vec<String> = KNOWN
        .into_iter()
        .chain(counted.iter().map(|(kind, _)| kind.as_str()))
        .filter(|kind| groups.contains(&Group::of(kind)))
        .map(str::to_owned)
        .collect();
    types.sort_unstable();
    types.dedup();
    if types.is_empty() && !groups.is_empty() {
        // The group was asked for but has no kinds. An empty list would mean all.
        types.push(NO_KIND.to_owned());
    }
    types
}

/// The number of events in each group. A tool call and its result count once, as they are one row.
pub fn counts(by_kind: &[(String, u64)]) -> BTreeMap<Group, u64> {
    let mut counts = BTreeMap::new();
    let (mut calls, mut results) = (0, 0);
    for (kind, count) in by_kind {
        match kind.as_str() {
            "agent.tool_call" | "tool.invocation_started" => calls += count,
            "agent.tool_result" | "user.tool_result" | "tool.invocation_completed" => results += count,
            _ => *counts.entry(Group::of(kind)).or_default() += count,
        }
    }
    // Results without calls are rows of their own.
    *counts.entry(Group::Tools).or_default() += calls.max(results);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_kind_has_a_group_of_its_own_kind() {
        assert!(KNOWN.into_iter().all(|kind| Group::of(kind) != Group::Other));
        assert_eq!(Group::of("acme.build_finished"), Group::Other);
    }

    #[test]
    fn a_call_and_its_result_count_once() {
        let of = |by_kind: &[(&str, u64)]| {
            let by_kind: Vec<_> = by_kind.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
            counts(&by_kind).get(&Group::Tools).copied().unwrap_or_default()
        };
        assert_eq!(of(&[("agent.tool_call", 13), ("agent.tool_result", 12), ("agent.message", 4)]), 13);
        assert_eq!(
            of(&[("tool.invocation_started", 2), ("tool.invocation_completed", 2), ("tool.field_changed", 1)]),
            3
        );
        assert_eq!((of(&[("agent.tool_result", 2)]), of(&[("agent.message", 1)])), (2, 0));
    }

    #[test]
    fn groups_become_event_types() {
        assert_eq!(types_of_groups("thinking,nonsense", &[]), ["agent.thinking"]);
        assert!(types_of_groups("", &[]).is_empty());
        assert_eq!(types_of_groups("other", &[("acme.x".into(), 2)]), ["acme.x"]);
        assert_eq!(types_of_groups("other", &[]), [NO_KIND]);
    }
}
