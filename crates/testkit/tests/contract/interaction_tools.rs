//! Turns of agents with tools: decisions on calls, the steps before an answer, and the context of the model.

use crate::{
    gate::{at_once, claim, complete, decide, edits, gate_of, says},
    interaction::{due, keep},
    thread::new,
};
use domain::{
    gate::{PausedToolCall, Verdict},
    message::{Message, Role, ToolCall},
    session::YieldTo,
};
use ledger::{
    event::NewEvent,
    session::{self, YieldRequest},
    thread,
};
use serde_json::{Value, json, value::RawValue};
use testkit::{Fixture, event, on_both_engines};

on_both_engines!(
    a_tool_call_that_reviewers_decided_about_was_an_answer_too,
    a_turn_has_the_steps_system_prompt_and_tools_of_its_log,
);

async fn a_tool_call_that_reviewers_decided_about_was_an_answer_too(f: Fixture) {
    at_once(&f).await;
    for (new, judged) in [
        (says(Verdict::Approve), (true, None)),
        (edits(&json!({ "subject": "Hi" })), (true, Some("Hi"))),
        (says(Verdict::Deny), (false, None)),
    ] {
        let session = f.running().await;
        let call = json!({ "to": "ada@acme.test", "subject": "Hello" });
        let call = PausedToolCall {
            tool_call_id: "call-1".into(),
            tool_name: "send_mail".into(),
            tool_input: call.as_object().unwrap().clone(),
        };
        let yield_request =
            YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(session.attempt, YieldTo::AwaitingTool) };
        session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
        decide(&f, &f.operator, gate_of(&f, session.id).await.gate.id, new).await.unwrap();
        complete(&f, &claim(&f).await.session, &json!("done")).await;
        let taken = due(&f).await.pop().unwrap();
        keep(&f, &taken).await;
        let (calls, answers): (Vec<_>, Vec<_>) = taken.turns.iter().partition(|turn| turn.judgement.is_some());
        assert_eq!(answers.iter().map(|turn| turn.answer.as_str()).collect::<Vec<_>>(), ["done"]);
        let [turn] = calls.as_slice() else { panic!("one call: {taken:?}") };
        assert_eq!(turn.tool_call_id.as_deref(), Some("call-1"));
        let proposed: Value = serde_json::from_str(&turn.answer).unwrap();
        assert_eq!((&proposed["toolName"], &proposed["toolInput"]["subject"]), (&json!("send_mail"), &json!("Hello")));
        let judgement = turn.judgement.as_ref().unwrap();
        let edited = judgement.edited.as_deref().map(|edited| serde_json::from_str::<Value>(edited).unwrap());
        let subject = edited.as_ref().and_then(|edited| edited["toolInput"]["subject"].as_str());
        assert_eq!((judgement.approved, subject), judged);
    }
    f.done().await;
}

/// Creates an event with one content part.
fn of_part(kind: &str, part: &Value, metadata: &Value) -> NewEvent {
    let raw = |json: &Value| Some(RawValue::from_string(json.to_string()).unwrap());
    NewEvent { content: raw(&json!([part])), metadata: raw(metadata), ..event(kind) }
}

fn calls(id: &str, name: &str, input: &Value) -> NewEvent {
    let part = json!({ "type": "tool-call", "toolCallId": id, "toolName": name, "input": input });
    of_part("agent.tool_call", &part, &json!({}))
}

fn answers(id: &str, output: &Value) -> NewEvent {
    let part = json!({ "type": "tool-result", "toolCallId": id, "toolName": "x", "output": output });
    of_part("agent.tool_result", &part, &json!({}))
}

async fn a_turn_has_the_steps_system_prompt_and_tools_of_its_log(f: Fixture) {
    thread::start(&f.ledger, &f.member, new(Some("Who owns Acme?"))).await.unwrap();
    let running = f.claim(1, 3_600).await.pop().unwrap();
    let tool = json!({ "type": "function", "function": { "name": "find", "parameters": { "type": "object" } } });
    let context = json!({ "modelContext": { "system": "You are a clerk.", "tools": [tool] } });
    let says =
        |words: &str, metadata: &Value| of_part("agent.message", &json!({ "type": "text", "text": words }), metadata);
    let log = vec![
        says("I look.", &context),
        calls("a", "find", &json!({ "name": "Acme" })),
        calls("cut", "find", &json!("{\"name\": \"Acm")),
        answers("a", &json!({ "type": "json", "value": { "owner": "u1" } })),
        answers("cut", &json!("not found")),
        calls("b", "find", &json!({ "id": "u1" })),
        answers("b", &json!("Ann")),
        calls("open", "find", &json!({})),
        says("Ann owns it.", &json!({})),
    ];
    f.append(running.id, running.attempt, log).await.unwrap();
    session::yield_to(&f.ledger, &f.worker, running.id, YieldRequest::at(running.attempt, YieldTo::Idle))
        .await
        .unwrap();
    let taken = due(&f).await.pop().unwrap();
    let [turn] = taken.turns.as_slice() else { panic!("one answer: {taken:?}") };
    let call = |id: &str, input: Value| ToolCall::new(id, "find", input.as_object().unwrap().clone());
    let (a, b) = (call("a", json!({ "name": "Acme" })), call("b", json!({ "id": "u1" })));
    // Calls that were truncated or have no result are left out.
    let expected = [
        Message::new(Role::System, "You are a clerk."),
        Message::new(Role::User, "Who owns Acme?"),
        Message { tool_calls: vec![a.clone()], ..Message::new(Role::Assistant, "I look.") },
        Message::answering(&a, r#"{"owner":"u1"}"#),
        Message::calling(vec![b.clone()]),
        Message::answering(&b, "Ann"),
    ];
    assert_eq!(turn.prompt, expected);
    assert_eq!(
        (turn.answer.as_str(), &turn.tool_call_id, turn.tools.as_deref()),
        ("Ann owns it.", &None, Some(&[tool][..]))
    );
    f.done().await;
}
