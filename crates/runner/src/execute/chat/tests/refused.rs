//! Tests of chat agents whose output or whose yield the server refuses.

use super::*;
use crate::execute::fake::Fault;

#[tokio::test]
async fn an_output_that_the_server_refuses_goes_back_to_the_model_with_the_reasons() {
    let model = ScriptedModel::start([ScriptedReply::Text("Wrong."), ScriptedReply::Text("Right.")]).await;
    let fake = fake().await;
    fake.with(|m| m.contract = Some(json!("Right.")));
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    let complete = fake.calls("complete").remove(0);
    let ended = (&complete["result"], &complete["usage"]["steps"]);
    assert_eq!(ended, (&json!("Right."), &json!(2)), "each step counts once");
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    let messages = requests[1].body["messages"].to_string();
    assert!(messages.contains("Wrong.") && messages.contains("2 is what fits"), "{messages}");
}

#[tokio::test]
async fn a_yield_that_the_server_refuses_fails_the_session_at_once() {
    let ask = ScriptedReply::tool("c1", "ask_person", &json!({"message": "Which stage?"}));
    let model = ScriptedModel::start([ask]).await;
    let fake = fake().await;
    fake.with(|m| m.faults.push(("yield", Fault::Refused)));
    let end = work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await;
    assert_eq!(end, End::Failed("yield_refused".into()));
    let why = failure(&fake);
    assert!(why.starts_with("the session cannot wait"), "{why}");
    assert_eq!(fake.calls("fail")[0]["usage"]["steps"], 1, "what it has cost is kept");
}
