//! Events as the rows of a page: joins tool results with their calls.

use super::part::{Answer, Part, parts};
use domain::event::Group;
use std::collections::HashMap;
use wire::event::Event;

/// A tool result that is shown in the row of its call.
#[derive(Debug, Clone)]
pub struct Joined<'a> {
    /// The result.
    pub answer: Answer<'a>,
    /// Sequence of the result's event, for links to it.
    pub sequence: u64,
    /// Time between call and result, in milliseconds.
    pub duration_ms: Option<u64>,
}

/// One row.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The recorded event that the entry shows.
    pub event: &'a Event,
    /// The filter group.
    pub group: Group,
    /// The parts of the event; calls come with their results.
    pub parts: Vec<(Part<'a>, Option<Joined<'a>>)>,
    /// Index of the call or result at which the session failed. Its row is unfolded.
    pub failing_part: Option<usize>,
}

/// Marks the step at which a session failed: the last call or result of a tool, if it failed. Rows of other groups
/// show no tools.
pub fn mark_failing_step(entries: &mut [Entry<'_>]) {
    let shows_tools = |entry: &&mut Entry<'_>| matches!(entry.group, Group::Messages | Group::Tools | Group::Thinking);
    for entry in entries.iter_mut().rev().filter(shows_tools) {
        let last = entry.parts.iter().enumerate().rev().find_map(|(at, (part, joined))| match part {
            Part::Call(_) => Some((at, joined.as_ref().is_some_and(|joined| joined.answer.is_error))),
            Part::Answer(answer) => Some((at, answer.is_error)),
            Part::Text(_) | Part::Reasoning(_) | Part::Other(_) => None,
        });
        if let Some((at, has_failed)) = last {
            entry.failing_part = has_failed.then_some(at);
            return;
        }
    }
}

/// The rows in order. A result whose call is on the same page moves to its call; an event with only such results gets
/// no row.
pub fn entries(events: &[Event]) -> Vec<Entry<'_>> {
    let read: Vec<Vec<Part<'_>>> = events.iter().map(parts).collect();
    // Open calls by id. If an id repeats, the first result after a call belongs to it.
    let mut open: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut joined: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    for (row, row_parts) in read.iter().enumerate() {
        for (at, part) in row_parts.iter().enumerate() {
            match part {
                Part::Call(call) if !call.id.is_empty() => {
                    open.insert(&call.id, (row, at));
                }
                Part::Answer(answer) => {
                    if let Some(call) = open.remove(&*answer.id) {
                        joined.insert((row, at), call);
                    }
                }
                _ => {}
            }
        }
    }
    let mut answers: HashMap<(usize, usize), Joined<'_>> = HashMap::new();
    for (&(row, at), &call) in &joined {
        if let (Some(Part::Answer(answer)), Some(asked), Some(answered)) =
            (read.get(row).and_then(|p| p.get(at)), events.get(call.0), events.get(row))
        {
            let measured = u64::try_from((answered.at - asked.at).num_milliseconds()).ok();
            let duration_ms = answer.duration_ms.or(measured);
            answers.insert(call, Joined { answer: answer.clone(), sequence: answered.sequence, duration_ms });
        }
    }
    let mut rows = Vec::with_capacity(events.len());
    for ((row, event), row_parts) in events.iter().enumerate().zip(read) {
        let had_parts = !row_parts.is_empty();
        let parts: Vec<_> = row_parts
            .into_iter()
            .enumerate()
            .filter(|(at, _)| !joined.contains_key(&(row, *at)))
            .map(|(at, part)| (part, answers.remove(&(row, at))))
            .collect();
        if had_parts && parts.is_empty() {
            continue;
        }
        rows.push(Entry { event, group: Group::of(&event.kind), parts, failing_part: None });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::{answer, call, event};

    #[test]
    fn an_answer_joins_its_call_and_leaves_no_row() {
        let events = [
            call(1, "a", "find"),
            event(2, "agent.thinking", r#"[{"type":"text","text":"hm"}]"#, "{}"),
            answer(3, "a", "\"ok\""),
        ];
        let rows = entries(&events);
        assert_eq!(rows.iter().map(|r| r.event.sequence).collect::<Vec<_>>(), [1, 2]);
        let joined = rows[0].parts[0].1.as_ref().unwrap();
        assert_eq!((joined.sequence, joined.duration_ms), (3, Some(2_000)));
    }

    #[test]
    fn an_answer_without_its_call_keeps_its_row() {
        let events = [answer(3, "a", "\"ok\""), call(4, "b", "find")];
        assert_eq!(entries(&events).len(), 2);
    }

    #[test]
    fn an_answer_before_its_call_is_not_its_answer() {
        let events = [answer(1, "a", "1"), call(2, "a", "find"), answer(3, "a", "2"), answer(4, "a", "3")];
        let rows = entries(&events);
        assert_eq!(rows.iter().map(|r| r.event.sequence).collect::<Vec<_>>(), [1, 2, 4]);
    }

    #[test]
    fn events_without_content_are_rows() {
        let events = [event(1, "session.claimed", "[]", "{}")];
        assert_eq!(entries(&events).len(), 1);
    }
}
