//! A session's conversation, rebuilt from its log. The log is the only state: the next worker rebuilds the same
//! conversation.

use super::{
    super::{
        adapter::{Failure, Resume},
        call::Call,
        log::{self, LogSource},
        notes::Notes,
        tool::{self, Tool},
        transcript::{CUT_NOTICE, first_kept},
    },
    budget::Spent,
    message::{CallResult, Message, Part},
};
use domain::{
    event::{
        Body, Known,
        kind::{AgentToolCall, CallPart, Context, ContextInjected, GateNotice, InvocationStarted, NoticeReason},
    },
    id::GateId,
};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use wire::event::Event;

/// One entry of a conversation, as a model reads it.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Text that the agent wrote.
    AgentText(String),
    /// A tool call of the agent.
    Call(Call),
    /// The result of a tool call.
    Result {
        /// Id of the call.
        id: String,
        /// The output as text.
        text: String,
    },
    /// Text that the model reads as the user's: a message, a refusal of an output, a reviewer's denial.
    UserText(String),
}

/// The entries of a conversation, and what the next step has to know besides them.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    entries: Vec<Entry>,
    /// Inputs of the calls that were started, by call id. A started call may have taken effect although it has no
    /// result.
    started: HashMap<String, Value>,
    /// Ids of the gates whose decisions are applied.
    decided: HashSet<GateId>,
    /// The decision with which the session continues.
    decision: Option<Resume>,
    /// Id of the call for which the gate of this decision was opened.
    decided_call: Option<String>,
    /// Entries of a model's reply whose last event is not read yet, and the attempt that recorded them.
    pending: (Option<u32>, Vec<Entry>),
    /// Texts that wait for the results of open calls: people's answers, and messages of the person.
    held: Vec<String>,
    /// Ids of the calls that had no result when the person sent a message.
    interrupted: HashSet<String>,
    /// Reviewers' denials that the agent has received.
    pub denials_sent: usize,
    /// Tokens and steps of all attempts.
    pub spent: Spent,
    /// Steps before the last message of the person.
    steps_before: u32,
}

/// Result of a call that had none when the person sent the next message, and got none afterwards.
const INTERRUPTED: &str = "the turn was interrupted before this call had a result; check whether it took effect";
/// Kind of the event that records the start of a tool call.
pub const STARTED: &str = Known::ToolInvocationStarted.as_str();

impl Conversation {
    /// Rebuilds the conversation from a log. `is_thread` includes the person's messages. `decision` is the one with
    /// which the session continues.
    ///
    /// # Errors
    /// If the log cannot be read or is too long, see [`log::for_each_event`].
    pub async fn read(log: LogSource<'_>, is_thread: bool, decision: Option<&Resume>) -> Result<Self, Failure> {
        let mut kinds = vec![
            Known::AgentMessage.as_str(),
            Known::AgentToolCall.as_str(),
            Known::AgentToolResult.as_str(),
            Known::ExternalEvent.as_str(),
            STARTED,
            Known::SessionContextInjected.as_str(),
        ];
        if is_thread {
            kinds.push(Known::UserMessage.as_str());
        }
        if decision.is_some() {
            kinds.extend([Known::SessionWaitingApproval.as_str(), Known::SessionStatusChange.as_str()]);
        }
        let mut conversation = Self { decision: decision.cloned(), ..Self::default() };
        log::for_each_event(log, &kinds, |event| conversation.apply(event)).await?;
        conversation.interrupt_calls();
        Ok(conversation)
    }

    /// Applies the next event of the log.
    fn apply(&mut self, event: &Event) {
        let notes = Notes::read(event.metadata.get());
        match event.body() {
            Body::AgentMessage(message) => {
                self.append_agent_text(event.attempt, message.continues(), message.text.unwrap_or_default());
            }
            Body::AgentToolCall(AgentToolCall(calls)) => {
                let call = |part: CallPart| Call {
                    id: part.id.unwrap_or_default(),
                    name: part.name.unwrap_or_default(),
                    input: part.input,
                };
                self.pending_of(event.attempt).extend(calls.into_iter().map(call).map(Entry::Call));
            }
            Body::AgentToolResult(answered) => {
                for result in &answered.results {
                    self.push_result(result.id.as_deref().unwrap_or_default(), result.value());
                }
                self.decided.extend(notes.gate_id);
            }
            Body::ToolInvocationStarted(InvocationStarted(call)) => {
                self.mark_started(call.tool_call_id.as_deref().unwrap_or_default(), call.input.unwrap_or_default());
                self.decided.extend(notes.gate_id);
            }
            Body::SessionWaitingApproval(notice) => self.note_gate(&notice.about),
            // What the person stopped must not run later.
            Body::SessionStatusChange(change) if change.reason == domain::thread::INTERRUPTED => {
                self.decided_call = None;
            }
            Body::SessionContextInjected(ContextInjected { text, context: Context::Answers { .. } }) => self.hold(text),
            Body::UserMessage(message) => self.hold_message(message.text.unwrap_or_default()),
            Body::ExternalEvent(reported) => self.apply_notice(&notes, reported.text.unwrap_or_default()),
            _ => {}
        }
        if let Some(step) = notes.step {
            self.spent.add(step.tokens);
            // The agent went on without the results.
            if self.decided_call.as_ref().is_some_and(|id| self.interrupted.contains(id)) {
                self.decided_call = None;
            }
            self.interrupt_calls();
            self.entries.append(&mut self.pending.1);
        }
    }

    /// Notes the call for which a gate was opened, if the session continues with the decision of this gate. A question
    /// does not name its call: it is the first one that was open when the question was asked.
    fn note_gate(&mut self, notice: &GateNotice) {
        let Some(resume) = self.decision.as_ref().filter(|resume| resume.gate_id == notice.gate_id) else {
            return;
        };
        let is_request = matches!(notice.reason, NoticeReason::Opened { request_id: Some(_), .. });
        let asked = || self.open_calls().into_iter().find(|call| asks(call, is_request)).map(|call| call.id);
        self.decided_call = resume.tool_call_id.clone().or_else(asked);
    }

    /// The pending entries of this attempt. Entries of another attempt are dropped: its worker was lost in the middle
    /// of a reply, and the model was asked again.
    fn pending_of(&mut self, attempt: Option<u32>) -> &mut Vec<Entry> {
        if self.pending.0 != attempt {
            self.pending = (attempt, Vec::new());
        }
        &mut self.pending.1
    }

    /// Adds text of the agent, or the next part of a long text.
    fn append_agent_text(&mut self, attempt: Option<u32>, continues: bool, text: String) {
        let pending = self.pending_of(attempt);
        match pending.last_mut() {
            Some(Entry::AgentText(text_so_far)) if continues => text_so_far.push_str(&text),
            _ => pending.push(Entry::AgentText(text)),
        }
    }

    /// Adds a message of the person, and gives open calls [`INTERRUPTED`] as their result.
    pub fn add_user_message(&mut self, text: String) {
        self.hold_message(text);
        self.interrupt_calls();
    }

    /// Adds a message of the person. It ends the agent's turn: a pending reply is dropped. The message waits while
    /// calls have no result, because the log can have a result after it: of a call that was decided before the person
    /// wrote again, and that ran afterwards.
    fn hold_message(&mut self, text: String) {
        self.pending = (None, Vec::new());
        let open = self.open_calls().into_iter().map(|call| call.id);
        self.interrupted.extend(open);
        self.steps_before = self.spent.steps;
        self.hold(text);
    }

    /// Gives calls that had no result at a message [`INTERRUPTED`] as their result, except the one that the decision
    /// is about.
    fn interrupt_calls(&mut self) {
        for call in self.open_calls() {
            if self.interrupted.contains(&call.id) && self.decided_call.as_deref() != Some(call.id.as_str()) {
                self.push_result(&call.id, &Value::from(INTERRUPTED));
            }
        }
    }

    /// Adds text that the model reads as the user's. While calls have no result it waits, because results follow their
    /// calls.
    fn hold(&mut self, text: String) {
        self.held.push(text);
        self.release_held();
    }

    fn release_held(&mut self) {
        if self.open_calls().is_empty() {
            for text in std::mem::take(&mut self.held) {
                self.push_user_text(text);
            }
        }
    }

    fn apply_notice(&mut self, notes: &Notes, text: String) {
        if let Some(denials) = notes.denials {
            self.denials_sent = denials;
        }
        if notes.denials.is_some() || notes.output_refused {
            self.push_user_text(text);
        }
    }

    /// Adds an entry. The caller records it in the log.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Adds text that the model reads as the user's.
    pub fn push_user_text(&mut self, text: String) {
        self.push(Entry::UserText(text));
    }

    /// Adds the result of a call.
    pub fn push_result(&mut self, id: &str, output: &Value) {
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        self.push(Entry::Result { id: id.to_owned(), text });
        self.release_held();
    }

    /// Calls without a result, in order.
    pub fn open_calls(&self) -> Vec<Call> {
        let is_answered =
            |call: &Call| self.entries.iter().any(|entry| matches!(entry, Entry::Result { id, .. } if *id == call.id));
        let calls = self.entries.iter().filter_map(|entry| match entry {
            Entry::Call(call) => Some(call),
            _ => None,
        });
        calls.filter(|call| !is_answered(call)).cloned().collect()
    }

    /// Whether the agent has called this tool.
    pub fn has_called(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| matches!(entry, Entry::Call(call) if call.name == name))
    }

    /// Whether the start of a call is recorded.
    pub fn was_started(&self, id: &str) -> bool {
        self.started.contains_key(id)
    }

    /// The input that a call was started with. A person may have changed it in their decision.
    pub fn started_input(&self, id: &str) -> Option<&Value> {
        self.started.get(id)
    }

    /// Marks a call as started. The caller records it in the log.
    pub fn mark_started(&mut self, id: &str, input: Value) {
        self.started.insert(id.to_owned(), input);
    }

    /// Number of started calls of the tools that `is_counted` accepts by name.
    pub fn started_count(&self, is_counted: impl Fn(&str) -> bool) -> usize {
        let is_one =
            |entry: &&Entry| matches!(entry, Entry::Call(call) if is_counted(&call.name) && self.was_started(&call.id));
        self.entries.iter().filter(is_one).count()
    }

    /// Whether the decision of this gate is applied.
    pub fn is_decision_applied(&self, gate_id: GateId) -> bool {
        self.decided.contains(&gate_id)
    }

    /// Marks the decision of this gate as applied.
    pub fn mark_decision_applied(&mut self, gate_id: GateId) {
        self.decided.insert(gate_id);
    }

    /// Id of the call that the decision is about with which the session continues.
    pub fn decided_call(&self) -> Option<&str> {
        self.decided_call.as_deref()
    }

    /// Returns `wanted`, or a new id derived from it if a call of the session has it already: models repeat their ids.
    pub fn unique_id(&self, wanted: &str) -> String {
        let is_taken = |id: &str| self.entries.iter().any(|entry| matches!(entry, Entry::Call(call) if call.id == id));
        if !wanted.is_empty() && !is_taken(wanted) {
            return wanted.to_owned();
        }
        let stem = if wanted.is_empty() { "call" } else { wanted };
        let mut count = self.spent.steps.max(1);
        while is_taken(&format!("{stem}_{count}")) {
            count += 1;
        }
        format!("{stem}_{count}")
    }

    /// The agent's last text if nothing follows it: the result of the session.
    pub fn final_text(&self) -> Option<&str> {
        match self.entries.last() {
            Some(Entry::AgentText(text)) => Some(text),
            _ => None,
        }
    }

    /// What was spent, with only the steps of the current turn: the budget of steps is per turn in a conversation.
    pub const fn spent_in_turn(&self) -> Spent {
        Spent { steps: self.spent.steps.saturating_sub(self.steps_before), ..self.spent }
    }

    /// The newest entries within the limits, as messages for the model. `activity` is appended to the last message.
    pub fn thread_messages(&self, activity: Option<&str>) -> Vec<Message> {
        let size = |entry: &Entry| match entry {
            Entry::AgentText(text) | Entry::UserText(text) | Entry::Result { text, .. } => text.len(),
            Entry::Call(call) => call.input.to_string().len(),
        };
        let sizes: Vec<_> =
            self.entries.iter().map(|entry| (matches!(entry, Entry::UserText(_)), size(entry))).collect();
        let from = first_kept(&sizes);
        let mut recent = Self { entries: self.entries.get(from..).unwrap_or_default().to_vec(), ..Self::default() };
        let last = recent.entries.iter_mut().rev().find_map(|entry| match entry {
            Entry::UserText(text) => Some(text),
            _ => None,
        });
        if let (Some(last), Some(activity)) = (last, activity) {
            *last = format!("{last}\n\n{activity}");
        }
        recent.messages(if from > 0 { CUT_NOTICE } else { "" })
    }

    /// All entries as messages for the model, after `opening` as the first message.
    pub fn messages(&self, opening: &str) -> Vec<Message> {
        let opening = Some(opening).filter(|text| !text.is_empty());
        let mut messages: Vec<_> = opening.map(Message::user).into_iter().collect();
        let mut parts: Vec<Part> = Vec::new();
        let mut answers: Vec<CallResult> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::AgentText(_) | Entry::Call(_) => flush_answers(&mut messages, &mut answers),
                Entry::Result { .. } => flush_parts(&mut messages, &mut parts),
                Entry::UserText(_) => {
                    flush_parts(&mut messages, &mut parts);
                    flush_answers(&mut messages, &mut answers);
                }
            }
            match entry {
                Entry::AgentText(text) => parts.push(Part::Text(text.clone())),
                Entry::Call(call) => parts.push(Part::Call(Call { input: replayed(&call.input), ..call.clone() })),
                Entry::Result { id, text } => answers.push(CallResult { id: id.clone(), text: text.clone() }),
                Entry::UserText(text) => messages.push(Message::user(text.as_str())),
            }
        }
        flush_parts(&mut messages, &mut parts);
        flush_answers(&mut messages, &mut answers);
        messages
    }
}

/// The input of a call as it is sent back. Services and the templates of open models take only objects: what a model
/// wrote instead is sent inside of one.
fn replayed(input: &Value) -> Value {
    if input.is_object() { input.clone() } else { json!({ "unreadable": input }) }
}

/// Whether the session waits at a question for this call: one that a request to people has opened, or one in the
/// session itself.
fn asks(call: &Call, is_request: bool) -> bool {
    if is_request {
        call.name == Tool::RequestFeedback.name() && tool::is_blocking(&call.input)
    } else {
        call.name == Tool::AskPerson.name()
    }
}

fn flush_parts(messages: &mut Vec<Message>, parts: &mut Vec<Part>) {
    if !parts.is_empty() {
        messages.push(Message::Agent(std::mem::take(parts)));
    }
}

fn flush_answers(messages: &mut Vec<Message>, answers: &mut Vec<CallResult>) {
    if !answers.is_empty() {
        messages.push(Message::Results(std::mem::take(answers)));
    }
}

#[cfg(test)]
mod tests;
