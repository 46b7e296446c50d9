//! Tests of chat agents in conversations.

use super::*;
use crate::execute::fake::Fault;
use domain::event::Known;
use domain::thread::{INTERRUPTED, SOURCE};

/// Makes the session a conversation.
fn thread(job: &mut Job) {
    job.session.source = Some(SOURCE.into());
}

/// Records an event of the server.
fn record(fake: &Fake, kind: &str, content: Value, metadata: Value) {
    fake.with(|m| {
        let id = format!("0193b0a0-0000-7000-8000-{:012}", 400 + m.events.len());
        let at = "2026-11-21T08:00:00Z";
        m.events.push(json!({"id": id, "type": kind, "content": content, "metadata": metadata, "at": at}));
    });
}

/// Records a message of the person and claims the session for the next turn.
fn say(fake: &Fake, text: &str) {
    record(fake, Known::UserMessage.as_str(), json!([{"type": "text", "text": text}]), json!({}));
    fake.with(|m| m.status = "running".into());
}

fn change() -> Value {
    json!({"id": "0193b0a0-0000-7000-8000-0000000000e1", "version": 1, "fields": {"stage": "Won"}})
}

/// An agent that changes entities only with an approval.
fn careful(model: &ScriptedModel) -> ChatAdapter {
    let mut chat = agent(model, Wire::OpenAi).chat;
    chat.tools = tools(&[Tool::EntityWrite]);
    chat
}

#[tokio::test]
async fn a_decision_is_applied_when_the_person_writes_again_while_the_turn_is_queued() {
    let ask = json!({"message": "Which stage?"});
    for (name, input, call, decision, expected) in [
        ("entity_write", change(), Some("c1"), Decision::Approve(None), "0193b0a0-0000-7000-8000-0000000000e1"),
        ("ask_person", ask, None, Decision::Answer(json!("Blue.")), "Blue."),
    ] {
        let model = ScriptedModel::start([ScriptedReply::tool("c1", name, &input)]).await;
        let fake = fake().await;
        say(&fake, "Set the stage.");
        assert_eq!(work(&fake, careful(&model), thread).await, End::Yielded);
        say(&fake, "Be quick.");
        say(&fake, "Please.");
        model.then([ScriptedReply::Text("Done.")]);
        let decide = decide(call, decision);
        let decided = |job: &mut Job| {
            thread(job);
            decide(job);
        };
        assert_eq!(work(&fake, careful(&model), decided).await, End::Yielded);
        let stage = if name == "entity_write" { "Won" } else { "Lead" };
        assert_eq!(fake.with(|m| m.entity["fields"]["stage"].clone()), stage, "{name}");
        let failed: Vec<_> = answers(&fake).into_iter().map(|(_, failed)| failed).collect();
        assert_eq!(failed, [false], "{name}");
        let messages = model.requests()[1].body["messages"].clone();
        let [.., call, result, first, second] = messages.as_array().unwrap().as_slice() else { panic!("{messages}") };
        let roles = [call, result, first, second].map(|message| message["role"].as_str().unwrap());
        assert_eq!(roles, ["assistant", "tool", "user", "user"], "{messages}");
        assert!(result.to_string().contains(expected), "{result}");
        assert!(first.to_string().contains("Be quick.") && second.to_string().contains("Please."), "{messages}");
    }
}

#[tokio::test]
async fn an_approved_call_of_a_turn_that_its_person_stopped_is_not_run_by_the_next() {
    let model = ScriptedModel::start([ScriptedReply::tool("c1", "entity_write", &change())]).await;
    let fake = fake().await;
    say(&fake, "Set the stage.");
    assert_eq!(work(&fake, careful(&model), thread).await, End::Yielded);
    record(&fake, "session.status_change", json!([]), json!({"from": "running", "to": "idle", "reason": INTERRUPTED}));
    say(&fake, "Leave it as it is.");
    model.then([ScriptedReply::Text("I left it.")]);
    let decide = decide(Some("c1"), Decision::Approve(None));
    let decided = |job: &mut Job| {
        thread(job);
        decide(job);
    };
    assert_eq!(work(&fake, careful(&model), decided).await, End::Yielded);
    assert_eq!(fake.with(|m| m.entity["fields"]["stage"].clone()), "Lead");
    let messages = model.requests()[1].body["messages"].to_string();
    assert!(messages.contains("the turn was interrupted") && messages.contains("Leave it as it is."), "{messages}");
}

#[tokio::test]
async fn a_yield_that_the_server_refuses_leaves_the_conversation_open_and_its_reason_in_the_log() {
    // The second refusal is that of a yield with the usage. Without the usage the turn ends.
    for refusals in [1, 2] {
        let ask = ScriptedReply::tool("c1", "ask_person", &json!({"message": "Which stage?"}));
        let model = ScriptedModel::start([ask]).await;
        let fake = fake().await;
        say(&fake, "Set the stage.");
        fake.with(|m| m.faults = vec![("yield", Fault::Refused); refusals]);
        assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, thread).await, End::Yielded);
        let codes: Vec<Value> = fake.with(|m| {
            let errors = m.events.iter().filter(|event| event["type"] == "session.error");
            errors.map(|event| event["metadata"]["code"].clone()).collect()
        });
        assert_eq!(codes, ["yield_refused"]);
        let yielded = fake.calls("yield").remove(0);
        assert_eq!((&yielded["status"], yielded["usage"].is_null()), (&json!("idle"), refusals == 2));
    }
}

/// The texts of the agent in the log.
fn replies(fake: &Fake) -> Vec<String> {
    fake.log().into_iter().filter(|(kind, _)| *kind == Known::AgentMessage).map(|(_, text)| text).collect()
}

#[tokio::test]
async fn a_reply_is_recorded_once_although_its_worker_was_lost_before_the_turn_ended() {
    let model = ScriptedModel::start([ScriptedReply::Text("Hello to you.")]).await;
    let fake = fake().await;
    say(&fake, "Hello");
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, thread).await, End::Yielded);
    let head = fake.with(|m| {
        m.status = "running".into();
        m.events.len() as u64
    });
    let next = |job: &mut Job| {
        thread(job);
        job.session.head_sequence = head;
    };
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, next).await, End::Yielded);
    assert_eq!(replies(&fake), ["Hello to you."]);
    assert_eq!((model.requests().len(), fake.calls("yield").len()), (1, 2));
}

#[tokio::test]
async fn what_an_earlier_attempt_said_at_its_work_does_not_replace_the_reply() {
    let fake = fake().await;
    say(&fake, "Hello");
    record(&fake, Known::AgentMessage.as_str(), json!([{"type": "text", "text": "I look."}]), json!({}));
    let (worker, _stop) = fake.worker(r#"echo '{"type":"result","result":"Done."}'"#);
    let mut job = job(claimed(json!(null)));
    thread(&mut job);
    job.session.head_sequence = 2;
    assert_eq!(worker.work(fake.lease(Duration::from_secs(60)), job).await, End::Yielded);
    assert_eq!(replies(&fake), ["I look.", "Done."]);
}
