//! Builds turns from a session's log: the prompt, the answer, and the decisions of reviewers.

use super::{
    answer_id, derived_id,
    entry::{Entry, MessageAuthor, TurnMessage},
    step::{Step, interleaved, steps},
};
use crate::{commit::is_dialogue, gate::Reviewed};
use domain::{
    Timestamp,
    event::{Body, Event, Known},
    gate::{GateKind, Task, Verdict},
    id::{InteractionId, SessionId},
    message::{Message, ModelContext, Role},
    outcome::{self, Inferred, OutcomeTracker},
    session::{Session, Status},
    thread::{INTERRUPTED, text_of},
};
use serde_json::{Map, Value};

/// Largest size in bytes of the messages in a prompt, including the arguments of tool calls. Older messages are
/// left out as a whole.
const HISTORY_BYTES_MAX: usize = 256 * 1024;

/// The decision of reviewers on an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewResult {
    /// Whether the answer was approved, possibly with changes.
    pub approved: bool,
    /// The edited answer as JSON; `None` if it was not changed.
    pub edited: Option<String>,
    /// When the decision took effect (UTC).
    pub at: Timestamp,
}

/// A prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Derived from the position in the log at which the answer ends.
    pub id: InteractionId,
    /// When the answer was completed (UTC).
    pub at: Timestamp,
    /// The conversation up to the answer. It begins with the system prompt, if known, and includes tool calls
    /// and their results.
    pub prompt: Vec<Message>,
    /// The function schemas of the tools that the agent had; `None` if they are unknown.
    pub tools: Option<Vec<Value>>,
    /// The answer. For a tool call this is a JSON object with `toolName` and `toolInput`.
    pub answer: String,
    /// The agent's id of the tool call, if the answer is one.
    pub tool_call_id: Option<String>,
    /// The decision of reviewers; `None` if there was none.
    pub judgement: Option<ReviewResult>,
}

/// What a turn says about the previous answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousOutcome {
    /// The previous turn.
    pub id: InteractionId,
    /// When the person sent the message from which the outcome is inferred (UTC).
    pub at: Timestamp,
    /// The inferred outcome and its evidence.
    pub inferred: Inferred,
    /// Whether a person has given feedback on the answer. Feedback takes precedence over an inferred outcome.
    pub is_judged: bool,
}

/// A prompt and its answer in a conversation, both possibly of several messages.
struct Exchange {
    /// Number of entries before the first entry of the answer.
    before: usize,
    prompt: String,
    /// Sequence of the first entry of the prompt.
    asked: u64,
    asked_at: Timestamp,
    answer: String,
    sequence: u64,
    at: Timestamp,
}

impl Exchange {
    /// Returns whether the turn ended with its answer. `unanswered` is the result of [`unanswered_ends`], and
    /// `until` is the sequence of the next prompt.
    fn is_answered(&self, unanswered: &[u64], until: u64) -> bool {
        !unanswered.iter().any(|end| (self.sequence..until).contains(end))
    }
}

/// Returns the last turn of a session that ended with `status`, and what it says about the previous answer.
/// `events` are messages, tool calls, tool results, errors and changes of status in the order of the log. A turn that
/// failed or was interrupted has no answer, and nothing is inferred about it.
pub(super) fn last(
    session: &Session,
    events: &[Event],
    reviewed: &[Reviewed],
    status: Status,
) -> (Option<Turn>, Option<PreviousOutcome>) {
    let (entries, steps) = (entries(session, events, status), steps(events, reviewed));
    let (turn, judged) = turn_of_dialogue(session.id, &entries, &steps, &unanswered_ends(events));
    (turn.map(|turn| turn.with_model_context(events)), judged)
}

impl Turn {
    /// Adds the system prompt and the tools that the model had last, if `events` record them.
    fn with_model_context(mut self, events: &[Event]) -> Turn {
        let contexts = || events.iter().rev().filter_map(|event| ModelContext::of(&event.metadata));
        let system = contexts().find_map(|context| context.system).filter(|system| !system.trim().is_empty());
        self.prompt.splice(0..0, system.map(|system| Message::new(Role::System, system)));
        self.tools = contexts().find_map(|context| context.tools);
        self
    }
}

fn turn_of_dialogue(
    session_id: SessionId,
    entries: &[Entry],
    steps: &[Step],
    unanswered: &[u64],
) -> (Option<Turn>, Option<PreviousOutcome>) {
    let exchanges = exchanges(entries);
    let Some(now) = exchanges.last().filter(|now| now.is_answered(unanswered, u64::MAX)) else { return (None, None) };
    // Messages of the agent before its last tool call belong to the prompt, not to the answer.
    let (history, words) = entries.split_at(now.before);
    let steps = &steps[..steps.partition_point(|step| step.sequence < now.sequence)];
    let called_last = steps.last().map_or(0, |step| step.sequence);
    let (before, words) = words.split_at(words.partition_point(|entry| entry.sequence < called_last));
    let words: Vec<_> = words.iter().filter(|entry| entry.message.by == MessageAuthor::Agent).collect();
    let turn = Turn {
        id: answer_id(now.at, session_id, now.sequence),
        at: now.at,
        prompt: cut(interleaved(history.iter().chain(before), steps)),
        tools: None,
        answer: words.iter().map(|entry| entry.message.text.as_str()).collect::<Vec<_>>().join("\n\n"),
        tool_call_id: None,
        judgement: None,
    };
    let previous = exchanges.len().checked_sub(2).and_then(|at| exchanges.get(at));
    let judged = previous.filter(|previous| previous.is_answered(unanswered, now.asked)).and_then(|before| {
        let mut tracker = OutcomeTracker::default();
        for exchange in [before, now] {
            let id = answer_id(exchange.at, session_id, exchange.sequence).to_string();
            tracker.record_turn(outcome::Turn { id, prompt: exchange.prompt.clone(), reply: exchange.answer.clone() });
        }
        let (_, inferred) = tracker.get_last_outcome()?;
        let id = answer_id(before.at, session_id, before.sequence);
        Some(PreviousOutcome { id, at: now.asked_at, inferred: inferred.clone(), is_judged: false })
    });
    (Some(turn), judged)
}

/// Returns whether the decision approves the output that is the session's answer.
pub(super) fn is_the_answer(reviewed: &Reviewed) -> bool {
    matches!(reviewed.gate.kind, GateKind::Output | GateKind::Fields) && reviewed.verdict != Verdict::Deny
}

/// Returns a turn for each decided proposal: staged output and tool calls. Denied proposals are included.
pub(super) fn staged(session: &Session, events: &[Event], reviewed: &[Reviewed]) -> Vec<Turn> {
    reviewed.iter().filter_map(|one| judged_by_reviewers(session, events, one, reviewed)).collect()
}

fn judged_by_reviewers(session: &Session, events: &[Event], one: &Reviewed, reviewed: &[Reviewed]) -> Option<Turn> {
    let approved = match one.verdict {
        Verdict::Approve | Verdict::Edit => true,
        Verdict::Deny => false,
        Verdict::Respond => return None,
    };
    let gate = &one.gate;
    let before: Vec<Event> = events.iter().filter(|event| event.recorded_at <= gate.opened_at).cloned().collect();
    let entries = entries(session, &before, Status::Idle);
    // In a dialogue the prompt has all messages; in other work only those of the person.
    let entries = entries.into_iter().filter(|entry| is_dialogue(session) || entry.message.by == MessageAuthor::User);
    let mut prompt = interleaved(entries.collect::<Vec<_>>().iter(), &steps(&before, reviewed));
    // The agent's last message accompanies the proposal and is not part of the prompt.
    let said_last = |message: &mut Message| message.role == Role::Assistant && message.tool_calls.is_empty();
    while prompt.pop_if(said_last).is_some() {}
    if prompt.is_empty() {
        return None;
    }
    let tool_call_id = match &gate.task {
        Task::Tool(call) => Some(call.tool_call_id.clone()),
        Task::Output(_) | Task::Fields(_) | Task::Question(_) | Task::Memory(_) => None,
    };
    let turn = Turn {
        id: InteractionId(derived_id(gate.opened_at, &[b"staged", gate.id.0.as_bytes()])),
        at: gate.opened_at,
        prompt: cut(prompt),
        tools: None,
        answer: gate.task.bound_value().to_string(),
        tool_call_id,
        judgement: Some(ReviewResult { approved, edited: one.edited.clone(), at: one.at }),
    };
    Some(turn.with_model_context(&before))
}

fn entries(session: &Session, events: &[Event], status: Status) -> Vec<Entry> {
    let message = |by, text: String| TurnMessage { by, text };
    let is_dialogue = is_dialogue(session);
    // Outside of dialogues the result is the answer. Messages of the agent after the last request only accompany
    // it.
    let result = session.result().filter(|_| !is_dialogue && status == Status::Completed);
    let asked_last = events.iter().rfind(|event| event.kind == Known::UserMessage).map_or(0, |event| event.sequence);
    let mut entries = Vec::new();
    if !is_dialogue {
        let input = session.input.as_deref().map(plain).filter(|input| !input.is_empty());
        // A session without input and messages is represented by its title.
        let request = input.or_else(|| (asked_last == 0).then(|| session.title.clone()));
        entries.extend(request.map(|text| Entry {
            sequence: 0,
            at: session.created_at,
            message: message(MessageAuthor::User, text),
        }));
    }
    for event in events {
        let by = match event.known() {
            Some(Known::UserMessage) => MessageAuthor::User,
            Some(Known::AgentMessage) if result.is_none() || event.sequence < asked_last => MessageAuthor::Agent,
            _ => continue,
        };
        let text = text_of(&event.content);
        if !text.is_empty() {
            entries.push(Entry { sequence: event.sequence, at: event.recorded_at, message: message(by, text) });
        }
    }
    if let Some(result) = result {
        let at = session.completed_at().unwrap_or(session.updated_at);
        entries.push(Entry { sequence: u64::MAX, at, message: message(MessageAuthor::Agent, plain(result)) });
    }
    entries
}

fn exchanges(entries: &[Entry]) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut prompt_parts: Option<(&Entry, Vec<&str>)> = None;
    let mut answered = false;
    for (at, entry) in entries.iter().enumerate() {
        let text = entry.message.text.as_str();
        match (entry.message.by, &mut prompt_parts) {
            (MessageAuthor::User, Some((_, words))) if !answered => words.push(text),
            (MessageAuthor::User, _) => (prompt_parts, answered) = (Some((entry, vec![text])), false),
            (MessageAuthor::Agent, Some((first, words))) if !answered => {
                answered = true;
                let (prompt, asked, asked_at) = (words.join("\n\n"), first.sequence, first.at);
                let (answer, sequence) = (text.to_owned(), entry.sequence);
                found.push(Exchange { before: at, prompt, asked, asked_at, answer, sequence, at: entry.at });
            }
            (MessageAuthor::Agent, Some(_)) => {
                if let Some(last) = found.last_mut() {
                    last.answer = format!("{}\n\n{text}", last.answer);
                    (last.sequence, last.at) = (entry.sequence, entry.at);
                }
            }
            // A message of the agent before any prompt is not an answer.
            (MessageAuthor::Agent, None) => {}
        }
    }
    // If the last message is from the person, the turn has no answer yet.
    if !answered && prompt_parts.is_some() { Vec::new() } else { found }
}

/// Returns the sequences of the changes of status that ended a turn without an answer: the session became idle
/// because its person interrupted the turn, or after an error that no message of the agent followed.
fn unanswered_ends(events: &[Event]) -> Vec<u64> {
    let mut ends = Vec::new();
    let mut failed = false;
    for event in events {
        match event.known() {
            Some(Known::SessionError) => failed = true,
            Some(Known::AgentMessage) => failed = false,
            Some(Known::SessionStatusChange) => {
                let Body::SessionStatusChange(change) = event.body() else { continue };
                let is_idle = change.to == Status::Idle;
                if is_idle && (failed || change.reason == INTERRUPTED) {
                    ends.push(event.sequence);
                }
                // A turn that is queued again is taken up by another worker.
                failed = failed && !is_idle && change.to != Status::Pending;
            }
            _ => {}
        }
    }
    ends
}

/// Returns the last messages that fit into [`HISTORY_BYTES_MAX`], at least one. Leading tool results whose call
/// was left out are removed.
fn cut(mut messages: Vec<Message>) -> Vec<Message> {
    let mut bytes = 0;
    let fits = messages.iter().rev().take_while(|message| {
        bytes += message.content.len();
        bytes += message.tool_calls.iter().map(|call| size(&call.function.arguments)).sum::<usize>();
        bytes <= HISTORY_BYTES_MAX
    });
    let kept = fits.count().max(1);
    let mut end = messages.split_off(messages.len().saturating_sub(kept));
    let orphans = end.iter().take_while(|message| message.role == Role::Tool).count();
    end.drain(..orphans);
    if end.is_empty() {
        // The last tool result alone exceeds the limit, so the last message of the person is used.
        end.extend(messages.into_iter().rfind(|message| message.role == Role::User));
    }
    end
}

fn size(arguments: &Map<String, Value>) -> usize {
    serde_json::to_string(arguments).map_or(0, |text| text.len())
}

/// Converts JSON to text: strings without quotes, everything else as JSON.
fn plain(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Value::String(text)) => text,
        Ok(Value::Null) => String::new(),
        _ => json.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, TimeDelta};
    use domain::outcome::{Outcome, Rule};
    use uuid::Uuid;

    const SESSION: SessionId = SessionId(Uuid::from_u128(7));

    /// Builds entries: `u` is a message of the person, `a` one of the agent.
    fn entries_of(texts: &[(char, &str)]) -> Vec<Entry> {
        let entry = |(at, (by, text)): (usize, &(char, &str))| Entry {
            sequence: at as u64 + 1,
            at: DateTime::UNIX_EPOCH + TimeDelta::seconds(at as i64),
            message: TurnMessage {
                by: if *by == 'u' { MessageAuthor::User } else { MessageAuthor::Agent },
                text: (*text).to_owned(),
            },
        };
        texts.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn a_turn_is_everything_since_the_answer_before() {
        let texts = [
            ('u', "Which port?"),
            ('a', "5432"),
            ('u', "Thanks!"),
            ('u', "And MySQL?"),
            ('a', "3306"),
            ('a', "By default."),
        ];
        let (turn, judged) = turn_of_dialogue(SESSION, &entries_of(&texts), &[], &[]);
        let turn = turn.unwrap();
        assert_eq!((turn.answer.as_str(), turn.prompt.len()), ("3306\n\nBy default.", 4));
        let judged = judged.unwrap();
        assert_eq!((judged.inferred.outcome, judged.inferred.evidence.rule), (Outcome::Accepted, Rule::Thanks));
        // The previous turn has the same id as when it was the last turn.
        let (before, nothing) = turn_of_dialogue(SESSION, &entries_of(&texts[..2]), &[], &[]);
        assert_eq!((before.unwrap().id, nothing), (judged.id, None));
        assert_eq!(judged.at, DateTime::UNIX_EPOCH + TimeDelta::seconds(2));
    }

    #[test]
    fn nothing_is_captured_before_an_answer() {
        assert_eq!(turn_of_dialogue(SESSION, &entries_of(&[]), &[], &[]), (None, None));
        assert_eq!(turn_of_dialogue(SESSION, &entries_of(&[('a', "Hello, I am here.")]), &[], &[]), (None, None));
        assert_eq!(
            turn_of_dialogue(SESSION, &entries_of(&[('u', "One"), ('a', "Two"), ('u', "Three")]), &[], &[]),
            (None, None)
        );
    }

    #[test]
    fn of_a_long_history_the_end_is_kept() {
        let long = "x".repeat(HISTORY_BYTES_MAX / 2);
        let texts = [('u', long.as_str()), ('a', "1"), ('u', &long), ('a', "2"), ('u', "Short?"), ('a', "3")];
        let (turn, _) = turn_of_dialogue(SESSION, &entries_of(&texts), &[], &[]);
        let lengths: Vec<usize> = turn.unwrap().prompt.iter().map(|message| message.content.len()).collect();
        assert_eq!(lengths, [1, HISTORY_BYTES_MAX / 2, 1, 6]);
        let huge = "y".repeat(HISTORY_BYTES_MAX * 2);
        let (turn, _) =
            turn_of_dialogue(SESSION, &entries_of(&[('u', "Before"), ('a', "0"), ('u', &huge), ('a', "1")]), &[], &[]);
        assert_eq!(turn.unwrap().prompt.len(), 1);
    }

    #[test]
    fn words_are_taken_out_of_json() {
        assert_eq!(plain(r#""a text""#), "a text");
        assert_eq!(plain(r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(plain("null"), "");
    }
}
