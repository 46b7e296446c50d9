//! What was said in a session, rebuilt from its log. The log is the state: a worker that takes a session over knows as
//! much as the one that had it.

use super::{
    super::{
        adapter::Failure,
        event::OUTPUT_REFUSED,
        log::{self, Log},
        talk::{CUT, told_from},
    },
    budget::Spent,
};
use domain::thread::MESSAGE;
use genai::chat::{ChatMessage, ContentPart, MessageContent, ToolCall, ToolResponse};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use wire::event::Event;

/// One turn of the talk.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// The agent said it.
    Said(String),
    /// The agent calls a tool.
    Call(Call),
    /// The tool's answer to a call.
    Answer {
        /// The call's.
        id: String,
        /// What the model reads.
        text: String,
    },
    /// The agent was told it.
    Told(String),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Unique in the session.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its input.
    pub input: Value,
}

/// The talk so far.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    turns: Vec<Turn>,
    /// Calls that were begun: their effects may have happened although their answers are missing.
    begun: HashMap<String, Value>,
    /// Gates whose decisions have been acted upon.
    decided: HashSet<String>,
    /// An answer of the model whose end has not been read yet, and the attempt that recorded it.
    pending: (Option<u32>, Vec<Turn>),
    /// Denials that the agent has been told of.
    pub denials_told: usize,
    /// What was spent.
    pub spent: Spent,
    /// Steps that were taken before the person spoke last.
    steps_before: u32,
}

/// Metadata of the last event of an answer: what it cost.
pub const STEP: &str = "step";
/// Metadata of the event that tells of reviewers' denials: how many there were.
pub const DENIALS: &str = "denials";
/// Metadata of an answer that a person's decision led to: whose gate it was.
pub const GATE: &str = "gateId";
/// What stands in the place of an answer that never came, because the person spoke first.
const INTERRUPTED: &str = "the turn was interrupted before this call had a result; check whether it took effect";
/// The mark of a call that was begun.
pub const BEGUN: &str = "tool.invocation_started";

impl Conversation {
    /// Reads a session's log.
    ///
    /// # Errors
    /// When it cannot be read, or is too long for any model.
    pub async fn read(log: Log<'_>, is_thread: bool) -> Result<Self, Failure> {
        let mut kinds = vec!["agent.message", "agent.tool_call", "agent.tool_result", "external.event", BEGUN];
        if is_thread {
            kinds.push(MESSAGE);
        }
        let mut conversation = Self::default();
        log::each(log, &kinds, |event| conversation.hear(event)).await?;
        Ok(conversation)
    }

    /// Takes in the next event of the log.
    fn hear(&mut self, event: &Event) {
        let content: Value = serde_json::from_str(event.content.get()).unwrap_or_default();
        let metadata: Value = serde_json::from_str(event.metadata.get()).unwrap_or_default();
        let part = &content[0];
        let text = |name: &str| part[name].as_str().unwrap_or_default().to_owned();
        match event.kind.as_str() {
            "agent.message" => self.is_saying(event.attempt, text("text"), &metadata),
            "agent.tool_call" => {
                let call = Call { id: text("toolCallId"), name: text("toolName"), input: part["input"].clone() };
                self.of_attempt(event.attempt).push(Turn::Call(call));
            }
            "agent.tool_result" => {
                self.answer(&text("toolCallId"), &part["output"]["value"]);
                self.decided.extend(metadata[GATE].as_str().map(str::to_owned));
            }
            BEGUN => {
                self.begin(&text("toolCallId"), part["input"].clone());
                self.decided.extend(metadata[GATE].as_str().map(str::to_owned));
            }
            MESSAGE => self.be_spoken_to(domain::thread::text_of(event.content.get())),
            _ => self.be_told(&metadata, text("text")),
        }
        let step = &metadata[STEP];
        if step.is_object() {
            let count = |name: &str| step[name].as_u64().unwrap_or_default();
            self.spent.add(count("inputTokens"), count("cachedInputTokens"), count("outputTokens"));
            self.turns.append(&mut self.pending.1);
        }
    }

    /// What is pending of this attempt. What another attempt left unfinished was lost with its worker, and asked again.
    fn of_attempt(&mut self, attempt: Option<u32>) -> &mut Vec<Turn> {
        if self.pending.0 != attempt {
            self.pending = (attempt, Vec::new());
        }
        &mut self.pending.1
    }

    /// A text that is long comes in several parts.
    fn is_saying(&mut self, attempt: Option<u32>, text: String, metadata: &Value) {
        let pending = self.of_attempt(attempt);
        match pending.last_mut() {
            Some(Turn::Said(said)) if metadata["part"].as_u64().is_some_and(|part| part > 1) => said.push_str(&text),
            _ => pending.push(Turn::Said(text)),
        }
    }

    /// A person speaks: whatever the agent was in the middle of is over.
    pub fn be_spoken_to(&mut self, text: String) {
        self.pending = (None, Vec::new());
        for call in self.open_calls() {
            self.answer(&call.id, &Value::from(INTERRUPTED));
        }
        self.steps_before = self.spent.steps;
        self.tell(text);
    }

    fn be_told(&mut self, metadata: &Value, text: String) {
        let denials = metadata[DENIALS].as_u64().and_then(|count| usize::try_from(count).ok());
        if let Some(denials) = denials {
            self.denials_told = denials;
        }
        if denials.is_some() || metadata[OUTPUT_REFUSED] == true {
            self.tell(text);
        }
    }

    /// The agent says or calls this. The caller records it, and what it cost.
    pub fn say(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    /// The agent is told this.
    pub fn tell(&mut self, text: String) {
        self.say(Turn::Told(text));
    }

    /// A tool answers a call.
    pub fn answer(&mut self, id: &str, output: &Value) {
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        self.say(Turn::Answer { id: id.to_owned(), text });
    }

    /// Calls without an answer, in order.
    pub fn open_calls(&self) -> Vec<Call> {
        let is_answered =
            |call: &Call| self.turns.iter().any(|turn| matches!(turn, Turn::Answer { id, .. } if *id == call.id));
        let calls = self.turns.iter().filter_map(|turn| match turn {
            Turn::Call(call) => Some(call),
            _ => None,
        });
        calls.filter(|call| !is_answered(call)).cloned().collect()
    }

    /// Whether a call was begun.
    pub fn was_begun(&self, id: &str) -> bool {
        self.begun.contains_key(id)
    }

    /// With which input a call was begun, which a person may have changed.
    pub fn begun_with(&self, id: &str) -> Option<&Value> {
        self.begun.get(id)
    }

    /// A call is begun. The caller records it.
    pub fn begin(&mut self, id: &str, input: Value) {
        self.begun.insert(id.to_owned(), input);
    }

    /// How many calls of this tool were begun.
    pub fn begun_of(&self, name: &str) -> usize {
        let is_one = |turn: &&Turn| matches!(turn, Turn::Call(call) if call.name == name && self.was_begun(&call.id));
        self.turns.iter().filter(is_one).count()
    }

    /// Whether a decision has been acted upon.
    pub fn was_decided(&self, gate_id: &str) -> bool {
        self.decided.contains(gate_id)
    }

    /// A decision is acted upon.
    pub fn decide(&mut self, gate_id: &str) {
        self.decided.insert(gate_id.to_owned());
    }

    /// An id for a call of the model's, unique in the session: models repeat theirs.
    pub fn unique_id(&self, wanted: &str) -> String {
        let is_taken = |id: &str| self.turns.iter().any(|turn| matches!(turn, Turn::Call(call) if call.id == id));
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

    /// What the agent said last, if nothing came after it: its result.
    pub fn final_text(&self) -> Option<&str> {
        match self.turns.last() {
            Some(Turn::Said(text)) => Some(text),
            _ => None,
        }
    }

    /// What was spent, with the steps of the last turn alone: a conversation may have any number of turns.
    pub const fn spent_in_turn(&self) -> Spent {
        Spent { steps: self.spent.steps.saturating_sub(self.steps_before), ..self.spent }
    }

    /// As the model reads a conversation: from as far back as the limits allow, with `activity` behind the last message.
    pub fn thread_messages(&self, activity: Option<&str>) -> Vec<ChatMessage> {
        let size = |turn: &Turn| match turn {
            Turn::Said(text) | Turn::Told(text) | Turn::Answer { text, .. } => text.len(),
            Turn::Call(call) => call.input.to_string().len(),
        };
        let sizes: Vec<_> = self.turns.iter().map(|turn| (matches!(turn, Turn::Told(_)), size(turn))).collect();
        let from = told_from(&sizes);
        let mut told = Self { turns: self.turns.get(from..).unwrap_or_default().to_vec(), ..Self::default() };
        let last = told.turns.iter_mut().rev().find_map(|turn| match turn {
            Turn::Told(text) => Some(text),
            _ => None,
        });
        if let (Some(last), Some(activity)) = (last, activity) {
            *last = format!("{last}\n\n{activity}");
        }
        told.messages(if from > 0 { CUT } else { "" })
    }

    /// As the model reads it.
    pub fn messages(&self, opening: &str) -> Vec<ChatMessage> {
        let opening = Some(opening).filter(|text| !text.is_empty());
        let mut messages: Vec<_> = opening.map(ChatMessage::user).into_iter().collect();
        let mut spoken: Vec<ContentPart> = Vec::new();
        let mut answers: Vec<ToolResponse> = Vec::new();
        for turn in &self.turns {
            match turn {
                Turn::Said(_) | Turn::Call(_) => flush_answers(&mut messages, &mut answers),
                Turn::Answer { .. } => flush_spoken(&mut messages, &mut spoken),
                Turn::Told(_) => {
                    flush_spoken(&mut messages, &mut spoken);
                    flush_answers(&mut messages, &mut answers);
                }
            }
            match turn {
                Turn::Said(text) => spoken.push(ContentPart::Text(text.clone())),
                Turn::Call(call) => spoken.push(ContentPart::ToolCall(ToolCall {
                    call_id: call.id.clone(),
                    fn_name: call.name.clone(),
                    fn_arguments: call.input.clone(),
                    thought_signatures: None,
                })),
                Turn::Answer { id, text } => answers.push(ToolResponse::new(id, text)),
                Turn::Told(text) => messages.push(ChatMessage::user(text.as_str())),
            }
        }
        flush_spoken(&mut messages, &mut spoken);
        flush_answers(&mut messages, &mut answers);
        messages
    }
}

fn flush_spoken(messages: &mut Vec<ChatMessage>, spoken: &mut Vec<ContentPart>) {
    if !spoken.is_empty() {
        messages.push(ChatMessage::assistant(MessageContent::from_parts(std::mem::take(spoken))));
    }
}

fn flush_answers(messages: &mut Vec<ChatMessage>, answers: &mut Vec<ToolResponse>) {
    if !answers.is_empty() {
        messages.push(ChatMessage::from(std::mem::take(answers)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use genai::chat::ChatRole;
    use serde_json::json;

    fn event(kind: &str, part: Value, metadata: Value) -> Event {
        serde_json::from_value(json!({
            "id": "0193b0a0-0000-7000-8000-0000000000aa", "sequence": 1, "type": kind, "role": "agent",
            "content": [part], "metadata": metadata, "actor": "system", "at": "2026-11-21T08:00:00Z",
            "recordedAt": "2026-11-21T08:00:00Z", "digest": ""
        }))
        .unwrap()
    }

    fn heard(events: &[Event]) -> Conversation {
        let mut conversation = Conversation::default();
        events.iter().for_each(|event| conversation.hear(event));
        conversation
    }

    fn of_attempt(attempt: u32, event: Event) -> Event {
        Event { attempt: Some(attempt), ..event }
    }

    fn text(text: &str, metadata: Value) -> Event {
        event("agent.message", json!({"type": "text", "text": text}), metadata)
    }

    fn call(id: &str, metadata: Value) -> Event {
        let part = json!({"type": "tool-call", "toolCallId": id, "toolName": "note", "input": {"n": 1}});
        event("agent.tool_call", part, metadata)
    }

    fn answer(id: &str) -> Event {
        let output = json!({"type": "json", "value": {"ok": true}});
        let part = json!({"type": "tool-result", "toolCallId": id, "toolName": "note", "output": output});
        event("agent.tool_result", part, json!({}))
    }

    const COST: fn() -> Value = || json!({"step": {"inputTokens": 10, "outputTokens": 2}});

    #[test]
    fn a_log_becomes_the_messages_that_the_model_knows() {
        let told = event("external.event", json!({"type": "text", "text": "no"}), json!({"outputRefused": true}));
        let remark = event("external.event", json!({"type": "text", "text": "aside"}), json!({}));
        let log = [
            text("a", json!({})),
            call("c1", json!({})),
            call("c2", COST()),
            remark,
            answer("c2"),
            answer("c1"),
            text("b", COST()),
            told,
        ];
        let conversation = heard(&log);
        let messages = conversation.messages("do it");
        let roles: Vec<_> = messages.iter().map(|message| message.role.clone()).collect();
        let (user, assistant, tool) = (ChatRole::User, ChatRole::Assistant, ChatRole::Tool);
        assert_eq!(roles, [user.clone(), assistant.clone(), tool, assistant, user]);
        assert_eq!(messages[1].content.tool_calls().len(), 2);
        assert_eq!(conversation.spent, Spent { steps: 2, input_tokens: 20, cached_tokens: 0, output_tokens: 4 });
        assert!(conversation.open_calls().is_empty());
        assert_eq!(conversation.final_text(), None);
    }

    #[test]
    fn an_answer_that_was_recorded_in_part_is_forgotten_and_an_open_call_is_not() {
        let mut log = vec![text("a", json!({})), call("c1", COST()), answer("c1"), text("torn", json!({}))];
        log.push(call("c2", json!({})));
        let conversation = heard(&log);
        assert!(conversation.open_calls().is_empty());
        assert_eq!(conversation.messages("x").len(), 3);
        log.push(of_attempt(2, text("again", COST())));
        let conversation = heard(&log);
        assert!(conversation.open_calls().is_empty());
        assert_eq!(conversation.final_text(), Some("again"));
        let conversation = heard(&[call("c1", COST())]);
        assert_eq!(conversation.open_calls()[0].id, "c1");
    }

    #[test]
    fn a_person_who_speaks_ends_what_the_agent_was_in_the_middle_of() {
        let spoken = |text: &str| event(MESSAGE, json!({"type": "text", "text": text}), json!({}));
        let log = [spoken("Hello"), call("c1", COST()), text("torn", json!({})), spoken("Stop")];
        let conversation = heard(&log);
        assert!(conversation.open_calls().is_empty());
        assert_eq!((conversation.spent.steps, conversation.spent_in_turn().steps), (1, 0));
        let messages = conversation.thread_messages(Some("They look at Acme."));
        let roles: Vec<_> = messages.iter().map(|message| message.role.clone()).collect();
        assert_eq!(roles, [ChatRole::User, ChatRole::Assistant, ChatRole::Tool, ChatRole::User]);
        let told = format!("{messages:?}");
        assert!(told.contains(INTERRUPTED) && !told.contains("torn"), "{told}");
        let last = format!("{:?}", messages.last().unwrap());
        assert!(last.contains("Stop") && last.contains("They look at Acme."), "{last}");
        assert_eq!(conversation.final_text(), None);
    }

    #[test]
    fn ids_that_a_model_repeats_are_told_apart() {
        let conversation = heard(&[call("call_0", COST()), answer("call_0")]);
        assert_eq!(conversation.unique_id("call_0"), "call_0_1");
        assert_eq!(conversation.unique_id(""), "call_1");
        assert_eq!(conversation.unique_id("other"), "other");
    }
}
