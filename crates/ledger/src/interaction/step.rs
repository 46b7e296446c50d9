//! Tool calls and their results, as steps between a prompt and its answer.

use super::entry::{Entry, MessageAuthor};
use crate::gate::Reviewed;
use domain::{
    event::{
        Body, Event,
        kind::{AgentToolCall, CallPart},
    },
    gate::{Task, Verdict},
    message::{Message, Role, ToolCall},
};
use serde_json::{Map, Value};

/// A tool call that has a result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// Sequence of the call's event.
    pub sequence: u64,
    /// The call, with the arguments that it was carried out with.
    pub call: ToolCall,
    /// The result as text.
    pub answer: String,
    /// Sequence of the result's event.
    pub answered: u64,
}

/// Returns the tool calls of a log that have a result. Calls that reviewers denied are left out. Calls whose
/// arguments are not an object, for example because they were truncated, are left out too. A call that reviewers
/// edited has the edited arguments.
pub(super) fn steps(events: &[Event], reviewed: &[Reviewed]) -> Vec<Step> {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for event in events {
        match event.body() {
            Body::AgentToolCall(AgentToolCall(parts)) => {
                calls.extend(parts.into_iter().map(|part| (event.sequence, part)))
            }
            Body::AgentToolResult(parts) => {
                results.extend(parts.results.into_iter().map(|part| (event.sequence, part)))
            }
            _ => {}
        }
    }
    let answered = calls.into_iter().filter_map(|(sequence, CallPart { id, name, input })| {
        let (id, name) = (id?, name?);
        let (answered, result) =
            results.iter().find(|(at, result)| result.id.as_ref() == Some(&id) && *at > sequence)?;
        let arguments = carried_out(&id, input.as_object()?, reviewed)?;
        let call = ToolCall::new(&id, &name, arguments);
        Some(Step { sequence, call, answer: result.text(), answered: *answered })
    });
    answered.collect()
}

/// Returns the arguments with which a call was carried out; `None` if it was denied.
fn carried_out(id: &str, proposed: &Map<String, Value>, reviewed: &[Reviewed]) -> Option<Map<String, Value>> {
    let is_about = |one: &&Reviewed| matches!(&one.gate.task, Task::Tool(call) if call.tool_call_id == id);
    let Some(decided) = reviewed.iter().find(is_about) else { return Some(proposed.clone()) };
    if decided.verdict == Verdict::Deny {
        return None;
    }
    let Some(edited) = &decided.edited else { return Some(proposed.clone()) };
    serde_json::from_str::<Value>(edited).ok()?["toolInput"].as_object().cloned()
}

/// Builds messages from texts and steps in the order of the log. Calls made before any of them got a result form
/// one message, followed by their results.
pub(super) fn interleaved<'a>(entries: impl Iterator<Item = &'a Entry>, steps: &[Step]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut left = steps;
    for entry in entries {
        let before = left.partition_point(|step| step.sequence < entry.sequence);
        add_tool_calls(&mut messages, &left[..before]);
        left = &left[before..];
        let role = if entry.message.by == MessageAuthor::User { Role::User } else { Role::Assistant };
        messages.push(Message::new(role, entry.message.text.as_str()));
    }
    add_tool_calls(&mut messages, left);
    messages
}

fn add_tool_calls(messages: &mut Vec<Message>, mut steps: &[Step]) {
    while let Some(first) = steps.first() {
        let mut answered = first.answered;
        let together = steps.iter().take_while(|step| {
            let is_before = step.sequence < answered;
            answered = answered.min(step.answered);
            is_before
        });
        let (round, rest) = steps.split_at(together.count().max(1));
        let calls = round.iter().map(|step| step.call.clone());
        match messages.last_mut() {
            // A text of the agent before its tool calls is in the same message as the calls.
            Some(last) if last.role == Role::Assistant => last.tool_calls = calls.collect(),
            _ => messages.push(Message::calling(calls.collect())),
        }
        messages.extend(round.iter().map(|step| Message::answering(&step.call, step.answer.as_str())));
        steps = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::{super::entry::TurnMessage, *};
    use chrono::DateTime;

    fn entry(sequence: u64, by: MessageAuthor, text: &str) -> Entry {
        Entry { sequence, at: DateTime::UNIX_EPOCH, message: TurnMessage { by, text: text.to_owned() } }
    }

    fn step(sequence: u64, id: &str, answered: u64) -> Step {
        Step { sequence, call: ToolCall::new(id, "look", Map::new()), answer: format!("{id} found"), answered }
    }

    #[test]
    fn calls_are_in_the_message_before_them_and_answers_follow_their_calls() {
        let entries =
            [(1, MessageAuthor::User, "Find Ann"), (2, MessageAuthor::Agent, "I look."), (9, MessageAuthor::User, "?")];
        let entries = entries.map(|(sequence, by, text)| entry(sequence, by, text));
        let steps = [step(3, "a", 6), step(4, "b", 5), step(7, "c", 8), step(11, "d", 12)];
        let messages = interleaved(entries.iter(), &steps);
        let shown: Vec<_> = messages
            .iter()
            .map(|message| (message.role.as_str(), message.content.as_str(), message.tool_calls.len()))
            .collect();
        let expected = [
            ("user", "Find Ann", 0),
            ("assistant", "I look.", 2),
            ("tool", "a found", 0),
            ("tool", "b found", 0),
            ("assistant", "", 1),
            ("tool", "c found", 0),
            ("user", "?", 0),
            ("assistant", "", 1),
            ("tool", "d found", 0),
        ];
        assert_eq!(shown, expected);
    }
}
