//! The groups of event kinds by which readers filter a log.

use domain::event::{Group, Known};
use std::collections::BTreeMap;

/// A valid kind that no event has.
const NO_KIND: &str = "shiftbook.none";

/// The label of a group's chip.
pub const fn label(group: Group) -> &'static str {
    match group {
        Group::Messages => "Messages",
        Group::Tools => "Tools",
        Group::Thinking => "Thinking",
        Group::Errors => "Errors",
        Group::State => "State",
        Group::People => "People",
        Group::External => "External",
        Group::Other => "Other",
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
    let known = Known::ALL.into_iter().map(|kind| kind.as_str().to_owned());
    let mut types: Vec<String> = known
        .chain(counted.iter().map(|(kind, _)| kind.clone()))
        .filter(|kind| groups.contains(&Group::of(kind)))
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
        match Known::parse(kind) {
            Some(Known::AgentToolCall | Known::ToolInvocationStarted) => calls += count,
            Some(Known::AgentToolResult | Known::UserToolResult | Known::ToolInvocationCompleted) => results += count,
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
