//! Tests of conversations that are rebuilt from events.

use super::{
    super::{super::adapter::Decision, Tokens, budget::Spent},
    *,
};
use serde_json::json;

fn event(kind: &str, part: Value, metadata: Value) -> Event {
    serde_json::from_value(json!({
        "id": "0193b0a0-0000-7000-8000-0000000000aa", "sequence": 1, "type": kind, "role": "agent",
        "content": [part], "metadata": metadata, "actor": "system", "at": "2026-11-21T08:00:00Z",
        "recordedAt": "2026-11-21T08:00:00Z", "digest": ""
    }))
    .unwrap()
}

fn conversation_of(events: &[Event]) -> Conversation {
    decided_conversation_of(events, None)
}

/// The conversation of a session that continues with this decision.
fn decided_conversation_of(events: &[Event], decision: Option<Resume>) -> Conversation {
    let mut conversation = Conversation { decision, ..Conversation::default() };
    events.iter().for_each(|event| conversation.apply(event));
    conversation.interrupt_calls();
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

fn result(id: &str) -> Event {
    let output = json!({"type": "json", "value": {"ok": true}});
    let part = json!({"type": "tool-result", "toolCallId": id, "toolName": "note", "output": output});
    event("agent.tool_result", part, json!({}))
}

const COST: fn() -> Value = || json!({"step": {"inputTokens": 10, "outputTokens": 2}});

#[test]
fn a_log_becomes_the_messages_that_the_model_knows() {
    let refusal = event("external.event", json!({"type": "text", "text": "no"}), json!({"outputRefused": true}));
    let remark = event("external.event", json!({"type": "text", "text": "aside"}), json!({}));
    let log = [
        text("a", json!({})),
        call("c1", json!({})),
        call("c2", COST()),
        remark,
        result("c2"),
        result("c1"),
        text("b", COST()),
        refusal,
    ];
    let conversation = conversation_of(&log);
    let messages = conversation.messages("do it");
    let [Message::User(_), Message::Agent(parts), Message::Results(results), Message::Agent(_), Message::User(_)] =
        messages.as_slice()
    else {
        panic!("{messages:?}")
    };
    assert_eq!(parts.iter().filter(|part| matches!(part, Part::Call(_))).count(), 2);
    assert_eq!(results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>(), ["c2", "c1"]);
    let mut spent = Spent::default();
    for _ in 0..2 {
        spent.add(Some(Tokens { input: 10, cached: 0, cache_written: 0, output: 2 }));
    }
    assert_eq!(conversation.spent, spent);
    assert!(conversation.open_calls().is_empty());
    assert_eq!(conversation.final_text(), None);
}

#[test]
fn an_answer_that_was_recorded_in_part_is_forgotten_and_an_open_call_is_not() {
    let mut log = vec![text("a", json!({})), call("c1", COST()), result("c1"), text("torn", json!({}))];
    log.push(call("c2", json!({})));
    let conversation = conversation_of(&log);
    assert!(conversation.open_calls().is_empty());
    assert_eq!(conversation.messages("x").len(), 3);
    log.push(of_attempt(2, text("again", COST())));
    let conversation = conversation_of(&log);
    assert!(conversation.open_calls().is_empty());
    assert_eq!(conversation.final_text(), Some("again"));
    let conversation = conversation_of(&[call("c1", COST())]);
    assert_eq!(conversation.open_calls()[0].id, "c1");
}

#[test]
fn a_message_of_a_person_ends_open_calls_of_the_agent() {
    let message = |text: &str| event(Known::UserMessage.as_str(), json!({"type": "text", "text": text}), json!({}));
    let log = [message("Hello"), call("c1", COST()), text("torn", json!({})), message("Stop")];
    let conversation = conversation_of(&log);
    assert!(conversation.open_calls().is_empty());
    assert_eq!((conversation.spent.steps, conversation.spent_in_turn().steps), (1, 0));
    let messages = conversation.thread_messages(Some("They look at Acme."));
    let [Message::User(_), Message::Agent(_), Message::Results(_), Message::User(_)] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    let rendered = format!("{messages:?}");
    assert!(rendered.contains(INTERRUPTED) && !rendered.contains("torn"), "{rendered}");
    let last = format!("{:?}", messages.last().unwrap());
    assert!(last.contains("Stop") && last.contains("They look at Acme."), "{last}");
    assert_eq!(conversation.final_text(), None);
}

#[test]
fn a_decided_call_stays_open_for_messages_until_it_has_a_result_or_the_agent_goes_on() {
    let gate = "0193b0a0-0000-7000-8000-00000000009b";
    let (gate_id, tool_call_id) = (gate.parse().unwrap(), Some("c1".to_owned()));
    let decision = Resume { gate_id, tool_call_id, decision: Decision::Deny, note: None, block: None, outcome: None };
    let message = |text: &str| event(Known::UserMessage.as_str(), json!({"type": "text", "text": text}), json!({}));
    let opened = event("session.waiting_approval", json!({}), json!({"gateId": gate, "reminder": true}));
    let mut log = vec![message("Do it"), call("c1", json!({})), call("c2", COST()), opened, message("Hurry")];
    let open = |decision| -> Vec<String> {
        decided_conversation_of(&log, decision).open_calls().into_iter().map(|call| call.id).collect()
    };
    assert_eq!(open(Some(decision.clone())), ["c1"]);
    assert!(open(None).is_empty());
    assert!(!format!("{:?}", decided_conversation_of(&log, Some(decision.clone())).entries).contains("Hurry"));

    // The message follows the result, also when the session continues with another decision later.
    log.push(result("c1"));
    for decision in [Some(decision.clone()), None] {
        let conversation = decided_conversation_of(&log, decision);
        assert!(conversation.open_calls().is_empty());
        let [.., Entry::Result { id, text }, _, message] = conversation.entries.as_slice() else {
            panic!("{conversation:?}")
        };
        assert_eq!((id.as_str(), text.contains("ok")), ("c1", true), "{conversation:?}");
        assert_eq!(*message, Entry::UserText("Hurry".into()));
    }

    log.pop();
    log.push(text("I went on.", COST()));
    let conversation = decided_conversation_of(&log, Some(decision));
    assert!(conversation.open_calls().is_empty());
    let [.., result, message, reply] = conversation.entries.as_slice() else { panic!("{conversation:?}") };
    assert!(matches!(result, Entry::Result { text, .. } if text == INTERRUPTED), "{conversation:?}");
    assert_eq!(*message, Entry::UserText("Hurry".into()));
    assert_eq!(*reply, Entry::AgentText("I went on.".into()));
}

#[test]
fn repeated_ids_of_a_model_are_made_unique() {
    let conversation = conversation_of(&[call("call_0", COST()), result("call_0")]);
    assert_eq!(conversation.unique_id("call_0"), "call_0_1");
    assert_eq!(conversation.unique_id(""), "call_1");
    assert_eq!(conversation.unique_id("other"), "other");
}
