//! Tests of the memory tool.

use super::*;
use crate::execute::fake::{Fault, SESSION_ID};

#[tokio::test]
async fn what_is_written_to_memory_names_the_event_of_its_call() {
    let view = json!({"command": "view", "path": "/memories"});
    let create = json!({"command": "create", "path": "/memories/topics/a.md", "file_text": "x"});
    let script = [
        ScriptedReply::tool("c1", "memory", &view),
        ScriptedReply::tool("c2", "memory", &create),
        ScriptedReply::Text("Noted."),
    ];
    let model = ScriptedModel::start(script).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    let started = kinds(&fake).iter().position(|kind| kind == STARTED).unwrap() + 1;
    let calls = fake.calls("memory");
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0]["query"], json!({"sessionId": SESSION_ID}));
    assert_eq!(calls[1]["query"], json!({"sessionId": SESSION_ID, "sequence": started.to_string()}));
}

#[tokio::test]
async fn a_memory_that_is_out_of_reach_for_a_moment_fails_no_session() {
    let view = json!({"command": "view", "path": "/memories"});
    let create = json!({"command": "create", "path": "/memories/topics/a.md", "file_text": "x"});
    let cases = [(&view, Fault::Busy, 1), (&create, Fault::Busy, 0), (&create, Fault::LostAnswer, 1)];
    for (command, fault, done) in cases {
        let script = [ScriptedReply::tool("c1", "memory", command), ScriptedReply::Text("Noted.")];
        let model = ScriptedModel::start(script).await;
        let fake = fake().await;
        fake.with(|m| m.faults.push(("memory", fault)));
        assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
        assert_eq!(fake.calls("memory").len(), done, "a write is sent once");
        let answers = answers(&fake);
        let [(output, failed)] = answers.as_slice() else { panic!("{answers:?}") };
        let is_write = command == &create;
        assert_eq!(*failed, is_write, "{output}");
        assert!(!is_write || output.as_str().unwrap().contains("not known whether this was written"), "{output}");
    }
}

#[tokio::test]
async fn ratings_of_memories_carry_the_attempt_and_are_sent_again_after_a_failure() {
    let rate = json!({"memory_feedback": {"mem_0123456789ab": 0.5, "x": "good"}});
    let script = [ScriptedReply::tool("c1", "rate_memories", &rate), ScriptedReply::Text("Noted.")];
    let model = ScriptedModel::start(script).await;
    let fake = fake().await;
    fake.with(|m| m.faults.push(("memory-feedback", Fault::LostAnswer)));
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    let sent = json!({"attempt": 1, "memory_feedback": rate["memory_feedback"]});
    assert_eq!(fake.calls("memory-feedback"), [sent.clone(), sent]);
    let answers = answers(&fake);
    let [(output, failed)] = answers.as_slice() else { panic!("{answers:?}") };
    assert!(!failed && output["notRead"] == 3, "{output}");
}

#[tokio::test]
async fn an_agent_with_the_tool_is_asked_for_ratings_when_the_claim_says_so() {
    for (is_due, has_tool) in [(true, true), (false, true), (true, false)] {
        let model = ScriptedModel::start([ScriptedReply::Text("Noted.")]).await;
        let fake = fake().await;
        let mut chat = agent(&model, Wire::OpenAi).chat;
        if !has_tool {
            chat.tools = Toolbox::new(&[tool::Named::Own(Tool::Note)], Vec::new(), None, Vec::new()).unwrap();
        }
        let give = |job: &mut Job| (job.activity, job.rate_memories) = (Some("<memory>x</memory>".into()), is_due);
        assert_eq!(work(&fake, chat, give).await, End::Completed);
        let messages = model.requests()[0].body["messages"].to_string();
        assert!(messages.contains("<memory>x</memory>"), "{messages}");
        assert_eq!(
            messages.contains("rate these memories with the tool rate_memories"),
            is_due && has_tool,
            "{messages}"
        );
    }
}
