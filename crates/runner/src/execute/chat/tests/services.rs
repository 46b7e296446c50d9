//! Streams of services that are called compatible, through the whole agent.

use super::*;
use crate::execute::limit;

fn chunk(delta: Value, reason: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
}

fn usage() -> Value {
    json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 20 } })
}

/// A reply of OpenAI's protocol with this text and no usage.
fn text(text: &str) -> ScriptedReply {
    ScriptedReply::frames(&[
        chunk(json!({ "content": text }), Value::Null),
        chunk(json!({}), "stop".into()),
        "[DONE]".into(),
    ])
}

fn note_call(id: &str, text: &str) -> Value {
    let arguments = json!({ "text": text }).to_string();
    json!([{ "index": 0, "id": id, "type": "function", "function": { "name": "note", "arguments": arguments } }])
}

#[tokio::test]
async fn calls_that_all_have_index_0_are_all_run_and_sent_back_with_their_results() {
    let call = |id: &str| chunk(json!({ "tool_calls": note_call(id, id) }), Value::Null);
    let end = [chunk(json!({}), "tool_calls".into()), usage(), "[DONE]".into()];
    let frames: Vec<_> = ["c1", "c2", "c3"].map(call).into_iter().chain(end).collect();
    let model = ScriptedModel::start([ScriptedReply::frames(&frames), ScriptedReply::Text("Noted.")]).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    let answers = answers(&fake);
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|(_, failed)| !failed), "{answers:?}");
    let messages = model.requests()[1].body["messages"].clone();
    let sent: Vec<_> =
        messages.as_array().unwrap().iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!(sent, ["c1", "c2", "c3"]);
}

#[tokio::test]
async fn a_call_that_is_no_object_is_sent_back_as_one() {
    for wire in WIRES {
        let calls = vec![("c1", "note", "{\"text\": ".to_owned())];
        let model = ScriptedModel::start([ScriptedReply::ToolCalls("", calls), ScriptedReply::Text("Sorry.")]).await;
        let fake = fake().await;
        assert_eq!(work(&fake, agent(&model, wire).chat, |_| {}).await, End::Completed);
        let body = &model.requests()[1].body;
        let messages = body["messages"].as_array().unwrap();
        let arguments = messages.iter().find_map(|message| message["tool_calls"][0]["function"]["arguments"].as_str());
        let input = messages.iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
        let input = input.into_iter().find(|block| block["type"] == "tool_use").map(|block| block["input"].clone());
        let sent = arguments.map(|text| serde_json::from_str(text).unwrap()).or(input).unwrap();
        assert_eq!(sent, json!({ "unreadable": "{\"text\": " }), "{wire:?}");
    }
}

#[tokio::test]
async fn frames_that_the_crate_refuses_and_that_can_be_read_do_not_end_a_reply() {
    let mut frames =
        vec![json!({ "error": null, "choices": [{ "index": 0, "delta": { "content": "It is " } }] }).to_string()];
    frames.push(r#"{"choices":[{"index":0,"delta":{"content":"\ud83d Acme."},"finish_reason":"stop"}]}"#.to_owned());
    frames.push(usage().to_string());
    // This service sends no `[DONE]`.
    let model = ScriptedModel::start([ScriptedReply::Frames(frames)]).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    assert_eq!(fake.calls("complete")[0]["result"], "It is \u{fffd} Acme.");
    assert_eq!(fake.calls("complete")[0]["usage"]["inputTokens"], 100);
}

#[tokio::test]
async fn the_reasoning_of_an_open_model_is_no_part_of_its_answer() {
    let model = ScriptedModel::start([ScriptedReply::Text("<think>\nA company?\n</think>\n\nIt is Acme.")]).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    assert_eq!(kinds(&fake), ["agent.thinking", "agent.message"]);
    assert_eq!((fake.log()[0].1.as_str(), fake.log()[1].1.as_str()), ("A company?", "It is Acme."));
    assert_eq!(fake.calls("complete")[0]["result"], "It is Acme.");
}

#[tokio::test]
async fn a_refusal_is_in_the_log_with_its_stop_reason_and_fails_the_session_in_its_words() {
    let refusal = [
        chunk(json!({ "refusal": "I can't " }), Value::Null),
        chunk(json!({ "refusal": "help." }), "stop".into()),
        usage(),
        "[DONE]".into(),
    ];
    let filter = [chunk(json!({ "content": "Half" }), "content_filter".into()), usage(), "[DONE]".into()];
    for (frames, logged, message) in [
        (&refusal[..], "I can't help.", "the model declined to answer (stop reason stop): I can't help."),
        (&filter[..], "", "a content filter withheld the model's answer (stop reason content_filter): Half"),
    ] {
        let model = ScriptedModel::start([ScriptedReply::frames(frames)]).await;
        let fake = fake().await;
        let end = work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await;
        assert_eq!(end, End::Failed("model_declined".into()));
        assert_eq!(failure(&fake), message);
        let last = fake.with(|m| m.events.last().unwrap().clone());
        assert!(last["metadata"]["stopReason"].is_string(), "{last}");
        assert_eq!(last["metadata"]["step"]["inputTokens"], 100, "its cost is kept");
        assert!(fake.log().iter().any(|(_, text)| text.contains(logged)));
        assert_eq!(model.requests().len(), 1, "it is not asked again");
    }
}

#[tokio::test]
async fn usage_that_is_not_reported_has_no_tokens_and_no_cost() {
    let model = ScriptedModel::start([ScriptedReply::tool("c1", "note", &json!({ "text": "x" })), text("Done.")]).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    let usage = fake.calls("complete")[0]["usage"].clone();
    assert_eq!(usage, json!({ "steps": 2, "model": "m-1", "unreportedSteps": 1 }));
    let steps: Vec<_> = fake
        .with(|m| m.events.iter().map(|event| event["metadata"]["step"].clone()).filter(Value::is_object).collect());
    let [known, unknown] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!((&known["inputTokens"], known["totalCostUsd"].is_number()), (&json!(100), true));
    assert_eq!(*unknown, json!({ "number": 2, "model": "m-1" }));
    // The next worker reads the same from the log.
    fake.with(|m| m.status = "running".into());
    let model = ScriptedModel::start([]).await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    assert_eq!(fake.calls("complete")[1]["usage"], usage);
}

#[tokio::test]
async fn a_budget_that_cannot_be_held_is_said_before_more_is_spent_and_then_before_it_starts() {
    let call = [chunk(json!({ "tool_calls": note_call("c1", "x") }), "tool_calls".into()), "[DONE]".into()];
    let model = ScriptedModel::start([ScriptedReply::frames(&call)]).await;
    let fake = fake().await;
    let mut chat = agent(&model, Wire::OpenAi).chat;
    chat.budget.cost_usd = Some(5.0);
    let (worker, _stop): (Worker, watch::Sender<Phase>) = fake.worker_of(chat);
    for _ in 0..2 {
        fake.with(|m| {
            m.status = "running".into();
            m.events.clear();
        });
        let end = worker.work(fake.lease(Duration::from_secs(60)), job(claimed(json!(null)))).await;
        assert_eq!(end, End::Failed("budget_unknown".into()));
        assert!(failure(&fake).contains("the budget of $5 cannot be held"), "{}", failure(&fake));
        assert_eq!(model.requests().len(), 1, "the second session does not ask at all");
    }
}

#[tokio::test]
async fn a_session_of_one_step_says_that_its_budget_could_not_be_held() {
    let model = ScriptedModel::start([text("Done.")]).await;
    let fake = fake().await;
    let mut chat = agent(&model, Wire::OpenAi).chat;
    chat.budget.output_tokens = Some(10);
    assert_eq!(work(&fake, chat, |_| {}).await, End::Completed);
    let last = fake.with(|m| m.events.last().unwrap().clone());
    assert_eq!(last["metadata"]["budgetUnknown"], true);
    assert!(fake.log().last().unwrap().1.contains("the budget of 10 output tokens cannot be held"), "{last}");
    assert_eq!(fake.calls("complete")[0]["result"], "Done.");
}

#[tokio::test]
async fn a_line_of_9_megabytes_fails_the_session_and_the_same_bytes_in_small_lines_do_not() {
    let padded = |bytes: usize| json!({ "choices": [{ "index": 0, "delta": { "content": "x" }, "padding": "x".repeat(bytes) }] });
    let end = vec![chunk(json!({}), "stop".into()), usage(), "[DONE]".into()];
    let one_line = [vec![padded(9_000_000)], end.clone()].concat();
    let model = ScriptedModel::start([ScriptedReply::frames(&one_line)]).await;
    let fake = fake().await;
    let ended = work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await;
    assert_eq!(ended, End::Failed("model_answer_too_large".into()));
    assert_eq!(failure(&fake), "the model service sent a line of more than 4,194,304 bytes");
    assert_eq!(model.requests().len(), 1, "it is not asked again");

    let small_lines = [vec![padded(1_000); 9_000], end].concat();
    let model = ScriptedModel::start([ScriptedReply::frames(&small_lines)]).await;
    fake.with(|m| m.status = "running".into());
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    assert_eq!(fake.calls("complete")[0]["result"], "x".repeat(9_000));
}

#[tokio::test]
async fn a_reply_of_more_than_4_megabytes_of_text_and_calls_fails_the_session() {
    let text = "x".repeat(limit::MODEL_REPLY_BYTES_MAX / 2);
    let frames = [
        chunk(json!({ "content": text }), Value::Null),
        chunk(json!({ "tool_calls": note_call("c1", &text) }), Value::Null),
        chunk(json!({}), "tool_calls".into()),
        "[DONE]".into(),
    ];
    let model = ScriptedModel::start([ScriptedReply::frames(&frames)]).await;
    let fake = fake().await;
    let ended = work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await;
    assert_eq!(ended, End::Failed("model_answer_too_large".into()));
    assert!(failure(&fake).contains("more than 4,194,304 bytes of text"), "{}", failure(&fake));
}
