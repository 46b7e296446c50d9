//! Tests of chat agents with a scripted model on both wire formats and a test server.

mod canvas;
mod memory;
mod refused;
mod services;
mod thread;

use super::super::{
    Worker,
    adapter::{Job, Phase},
    event::{EVENT_CONTENT_BYTES_MAX, event, size},
    fake::{Fake, GATE_ID, claimed},
    session::{End, job},
};
use super::{conversation::STARTED, *};
use outbound::{Client, Policy};
use std::sync::{Arc, Mutex};
use testkit::model::{ScriptedModel, ScriptedReply};
use tokio::{sync::watch, time::Duration};

const KEY: &str = "sk-very-secret";
const WIRES: [Wire; 2] = [Wire::OpenAi, Wire::Anthropic];

/// An agent and the pauses between its requests.
struct Agent {
    chat: ChatAdapter,
    pauses: Arc<Mutex<Vec<Duration>>>,
}

fn agent(model: &ScriptedModel, wire: Wire) -> Agent {
    let pauses: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let noted = Arc::clone(&pauses);
    let pause: Pause = Arc::new(move |pause| {
        noted.lock().unwrap().push(pause);
        Box::pin(std::future::ready(()))
    });
    let http = client::http_client(&model.base_url).unwrap();
    let at = ModelAddress { wire, base_url: &model.base_url, name: "m-1" };
    let chat = ChatAdapter {
        model: Model::new(http, at, Secret::new(KEY.into()), None, pause).unwrap(),
        instructions: Some("You are a clerk.".into()),
        tools: tools(&[]),
        budget: Budget::default(),
        prices: Some(Prices { input: 10.0, cached_input: Some(1.0), cache_write: None, output: 50.0 }),
    };
    Agent { chat, pauses }
}

fn tools(confirmed: &[Tool]) -> Toolbox {
    let client = Client::new(Policy::default()).unwrap();
    let http = tool::Http { client, hosts: outbound::Hosts::only(&["a.test"]).unwrap() };
    let own = |tools: &[Tool]| tools.iter().copied().map(tool::Named::Own).collect::<Vec<_>>();
    Toolbox::new(&own(&Tool::ALL.map(|(_, tool)| tool)), own(confirmed), Some(http), Vec::new()).unwrap()
}

async fn fake() -> Fake {
    let fake = Fake::start().await;
    fake.with(|m| {
        m.entity = json!({
            "id": "0193b0a0-0000-7000-8000-0000000000e1", "typeId": "0193b0a0-0000-7000-8000-000000000071", "typeSlug": "company", "title": "Acme", "fields": {"stage": "Lead"}, "version": 1,
            "createdBy": "system", "updatedBy": "system", "createdAt": "2026-11-21T08:00:00Z",
            "updatedAt": "2026-11-21T08:00:00Z"
        });
    });
    fake
}

/// Works on the session under its present attempt.
async fn work(fake: &Fake, chat: ChatAdapter, change: impl FnOnce(&mut Job)) -> End {
    let (worker, _stop): (Worker, watch::Sender<Phase>) = fake.worker_of(chat);
    let mut job = job(claimed(json!({"company": "e1"})));
    change(&mut job);
    worker.work(fake.lease(Duration::from_secs(60)), job).await
}

fn kinds(fake: &Fake) -> Vec<String> {
    fake.with(|m| m.events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect())
}

/// What the tools answered: output, whether it is an error.
fn answers(fake: &Fake) -> Vec<(Value, bool)> {
    let part = |event: &Value| (event["content"][0]["output"]["value"].clone(), event["content"][0]["isError"] == true);
    fake.with(|m| m.events.iter().filter(|event| event["type"] == "agent.tool_result").map(part).collect())
}

fn failure(fake: &Fake) -> String {
    fake.calls("fail")[0]["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_model_reads_with_a_tool_and_hands_over_its_result_with_its_cost_on_both_wires() {
    for wire in WIRES {
        let input = json!({"id": "0193b0a0-0000-7000-8000-0000000000e1"}).to_string();
        let script = [
            ScriptedReply::ToolCalls("I look — ünd.", vec![("c1", "entity_read", input)]),
            ScriptedReply::Text("It is Acme."),
        ];
        let model = ScriptedModel::start(script).await;
        let fake = fake().await;
        assert_eq!(work(&fake, agent(&model, wire).chat, |_| {}).await, End::Completed);
        let expected = ["agent.message", "agent.tool_call", "agent.tool_result", "agent.message"];
        assert_eq!(kinds(&fake), expected, "{wire:?}");
        assert_eq!(fake.log()[0].1, "I look — ünd.");
        assert_eq!(answers(&fake)[0].0["title"], "Acme");
        let complete = fake.calls("complete").remove(0);
        assert_eq!(complete["result"], "It is Acme.");
        let usage = json!({"inputTokens": 200, "cachedInputTokens": 80, "outputTokens": 40, "steps": 2, "model": "m-1", "costUsd": 0.00328});
        assert_eq!(complete["usage"], usage);
        let requests = model.requests();
        let first = requests[0].body.to_string();
        for part in ["You are a clerk.", "Task: t", "company", "entity_write"] {
            assert!(first.contains(part), "{part} in {first}");
        }
        assert_eq!(requests[0].body["stream"], true);
        let second = requests[1].body["messages"].to_string();
        assert!(second.contains("c1") && second.contains("Acme"), "{second}");
    }
}

#[tokio::test]
async fn what_the_model_was_given_is_noted_once_per_claim_beside_its_first_answer() {
    let call = || ScriptedReply::tool("c1", "entity_read", &json!({"id": "0193b0a0-0000-7000-8000-0000000000e1"}));
    let model = ScriptedModel::start([call(), ScriptedReply::Text("It is Acme.")]).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    let contexts: Vec<Value> =
        fake.with(|m| m.events.iter().map(|event| event["metadata"]["modelContext"].clone()).collect());
    let [first, answer, last] = contexts.as_slice() else { panic!("{contexts:?}") };
    assert!(answer.is_null() && last.is_null(), "{contexts:?}");
    assert_eq!(first["system"], "You are a clerk.");
    let request = &model.requests()[0].body;
    // What was noted is what the model got.
    assert_eq!(first["tools"].as_array().unwrap().len(), Tool::ALL.len());
    for (noted, given) in first["tools"].as_array().unwrap().iter().zip(request["tools"].as_array().unwrap()) {
        for part in ["name", "description", "parameters"] {
            assert_eq!(noted["function"][part], given["function"][part], "{part}");
        }
    }
    assert!(request["messages"][0]["content"].to_string().contains("You are a clerk."));
}

#[test]
fn what_does_not_fit_beside_a_large_answer_is_left_for_the_next() {
    let mut context = Some(json!({"system": "s".repeat(EVENT_CONTENT_BYTES_MAX / 2)}));
    let mut large = event(
        "agent.message",
        &json!([{"type": "text", "text": "t".repeat(EVENT_CONTENT_BYTES_MAX / 2)}]),
        &Notes::default(),
    );
    add_context(&mut large, &mut context);
    assert!(context.is_some() && large.metadata.is_none());
    let mut small = event(
        "agent.message",
        &json!([{"type": "text", "text": "t"}]),
        &Notes { denials: Some(1), ..Notes::default() },
    );
    add_context(&mut small, &mut context);
    assert!(context.is_none() && size(&small) < EVENT_CONTENT_BYTES_MAX);
    let notes: Value = serde_json::from_str(small.metadata.as_ref().unwrap().get()).unwrap();
    assert_eq!(
        (&notes["denials"], notes["modelContext"]["system"].as_str().unwrap().len()),
        (&json!(1), EVENT_CONTENT_BYTES_MAX / 2)
    );
}

#[tokio::test]
async fn what_may_pass_is_asked_again_after_growing_pauses_and_not_before_retry_after() {
    for wire in WIRES {
        let script = [
            ScriptedReply::Status(429, Some(7), "slow down"),
            ScriptedReply::ConnectionLost,
            ScriptedReply::InvalidJson,
            ScriptedReply::Overloaded,
            ScriptedReply::EndsEarly,
            ScriptedReply::Text("ok"),
        ];
        let model = ScriptedModel::start(script).await;
        let fake = fake().await;
        let Agent { chat, pauses } = agent(&model, wire);
        assert_eq!(work(&fake, chat, |_| {}).await, End::Completed, "{:?}", fake.calls("fail"));
        let pauses = pauses.lock().unwrap().clone();
        assert_eq!(pauses.len(), 5);
        assert_eq!(pauses[0], Duration::from_secs(7));
        for (pause, whole) in pauses[1..].iter().zip([2.0, 4.0, 8.0, 16.0]) {
            assert!((whole / 2.0..=whole).contains(&pause.as_secs_f64()), "{pause:?} of {whole}");
        }
        assert_eq!(fake.calls("complete")[0]["usage"]["steps"], 1, "only answers are steps");
        let retries = fake.with(|m| m.events.iter().filter(|event| event["metadata"]["retry"] == true).count());
        assert_eq!(retries, 5);
    }
}

#[tokio::test]
async fn an_unavailable_model_fails_the_session_with_its_last_error() {
    let mut script = vec![ScriptedReply::ConnectionLost; 5];
    script.push(ScriptedReply::Status(503, None, "down for the night"));
    let model = ScriptedModel::start(script).await;
    let fake = fake().await;
    let end = work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await;
    assert_eq!(end, End::Failed("model_unavailable".into()));
    let why = failure(&fake);
    assert!(why.contains("503") && why.contains("down for the night") && why.ends_with("(6 tries)"), "{why}");
}

#[tokio::test]
async fn a_refusal_is_not_asked_again_and_the_key_is_nowhere_to_be_seen() {
    for wire in WIRES {
        let model = ScriptedModel::start([ScriptedReply::Status(401, None, "sk-very-secret is not a valid key")]).await;
        let fake = fake().await;
        let Agent { chat, pauses } = agent(&model, wire);
        let shown = format!("{chat:?}");
        assert_eq!(work(&fake, chat, |_| {}).await, End::Failed("model_refused".into()));
        assert!(pauses.lock().unwrap().is_empty());
        let requests = model.requests();
        assert_eq!(requests.len(), 1);
        assert!(requests[0].head.contains(KEY), "the service gets the key");
        let why = failure(&fake);
        assert!(why.contains("401") && why.contains("[key] is not a valid key"), "{why}");
        let log = fake.with(|m| format!("{:?}{:?}", m.events, m.calls));
        assert!(!shown.contains(KEY) && !log.contains(KEY));
    }
}

#[tokio::test]
async fn each_budget_ends_the_session_with_its_own_code_before_more_is_spent() {
    let more = || ScriptedReply::tool("c1", "note", &json!({"text": "x"}));
    for (budget, code) in [
        (Budget { steps: Some(2), ..Budget::default() }, "budget_steps"),
        (Budget { input_tokens: Some(200), ..Budget::default() }, "budget_input_tokens"),
        (Budget { output_tokens: Some(40), ..Budget::default() }, "budget_output_tokens"),
        (Budget { cost_usd: Some(0.003), ..Budget::default() }, "budget_cost"),
    ] {
        let model = ScriptedModel::start([more(), more(), more()]).await;
        let fake = fake().await;
        let mut chat = agent(&model, Wire::OpenAi).chat;
        chat.budget = budget;
        assert_eq!(work(&fake, chat, |_| {}).await, End::Failed(code.into()));
        assert_eq!(model.requests().len(), 2, "{code}");
        let usage = json!({"inputTokens": 200, "cachedInputTokens": 80, "outputTokens": 40, "steps": 2, "model": "m-1", "costUsd": 0.00328});
        assert_eq!(fake.calls("fail")[0]["usage"], usage, "what it has cost, as of one that completes");
    }
    let model = ScriptedModel::start([ScriptedReply::NoAnswer]).await;
    let fake = fake().await;
    let mut chat = agent(&model, Wire::OpenAi).chat;
    chat.budget.seconds = Some(1);
    assert_eq!(work(&fake, chat, |_| {}).await, End::Failed("budget_seconds".into()));
}

#[tokio::test]
async fn what_was_spent_under_an_earlier_attempt_counts() {
    let model =
        ScriptedModel::start([ScriptedReply::tool("c1", "note", &json!({"text": "x"})), ScriptedReply::ConnectionLost])
            .await;
    let fake = fake().await;
    let mut chat = agent(&model, Wire::OpenAi).chat;
    chat.budget.steps = Some(1);
    assert_eq!(work(&fake, chat, |_| {}).await, End::Failed("budget_steps".into()));
    fake.with(|m| m.status = "running".into());
    let mut chat = agent(&model, Wire::OpenAi).chat;
    chat.budget.steps = Some(1);
    assert_eq!(work(&fake, chat, |_| {}).await, End::Failed("budget_steps".into()));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn calls_that_make_no_sense_are_answered_with_what_is_wrong_and_the_talk_goes_on() {
    for wire in WIRES {
        let calls = vec![
            ("c1", "note", r#"{"text": "#.to_owned()),
            ("c1", "rm", json!({}).to_string()),
            ("", "entity_read", json!({"id": "0193b0a0-0000-7000-8000-0000000000e9"}).to_string()),
        ];
        let model = ScriptedModel::start([ScriptedReply::ToolCalls("", calls), ScriptedReply::Text("Sorry.")]).await;
        let fake = fake().await;
        assert_eq!(work(&fake, agent(&model, wire).chat, |_| {}).await, End::Completed);
        let outputs: Vec<_> = answers(&fake).into_iter().map(|(output, failed)| (output.to_string(), failed)).collect();
        assert!(outputs.iter().all(|(_, failed)| *failed));
        assert!(outputs[0].0.contains("not a JSON object"), "{outputs:?}");
        assert!(outputs[1].0.contains("there is no tool"), "{outputs:?}");
        assert!(outputs[2].0.contains("not_found"), "{outputs:?}");
    }
}

#[tokio::test]
async fn requests_go_to_the_hosts_that_the_agent_may_call_and_to_no_others() {
    let fake = fake().await;
    let get = |id, url: String| (id, "http_request", json!({"url": url}).to_string());
    let calls = vec![get("c1", format!("{}/api/me", fake.url)), get("c2", "http://127.0.0.1:1/".into())];
    let model = ScriptedModel::start([ScriptedReply::ToolCalls("", calls), ScriptedReply::Text("Done.")]).await;
    let mut chat = agent(&model, Wire::OpenAi).chat;
    let host = fake.url.trim_start_matches("http://");
    let outbound = Client::new(Policy::opening(&["127.0.0.0/8".to_owned()]).unwrap()).unwrap();
    let http = tool::Http { client: outbound, hosts: outbound::Hosts::only(&[host]).unwrap() };
    chat.tools = Toolbox::new(&[tool::Named::Own(Tool::HttpRequest)], Vec::new(), Some(http), Vec::new()).unwrap();
    assert_eq!(work(&fake, chat, |_| {}).await, End::Completed);
    let answers = answers(&fake);
    assert_eq!((&answers[0].0["status"], answers[0].1), (&json!(200), false));
    assert!(answers[0].0["body"].as_str().unwrap().contains("acme"));
    assert!(answers[1].1, "{:?}", answers[1]);
}

#[tokio::test]
async fn a_write_is_done_once_and_marked_before() {
    let change = json!({"id": "0193b0a0-0000-7000-8000-0000000000e1", "version": 1, "fields": {"stage": "Won"}});
    let model =
        ScriptedModel::start([ScriptedReply::tool("c1", "entity_write", &change), ScriptedReply::Text("Written.")])
            .await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::Anthropic).chat, |_| {}).await, End::Completed);
    assert_eq!(fake.with(|m| m.entity["fields"].clone()), json!({"stage": "Won"}));
    assert_eq!(kinds(&fake), ["agent.tool_call", STARTED, "agent.tool_result", "agent.message"]);

    // Another worker finds the mark and no answer.
    let model = ScriptedModel::start([ScriptedReply::Text("I looked.")]).await;
    fake.with(|m| {
        m.status = "running".into();
        m.events.truncate(2);
        m.calls.clear();
    });
    assert_eq!(work(&fake, agent(&model, Wire::Anthropic).chat, |_| {}).await, End::Completed);
    assert!(fake.calls("change").is_empty());
    assert!(answers(&fake)[0].0.as_str().unwrap().contains("started before"));
}

fn decide(tool_call_id: Option<&str>, decision: Decision) -> impl FnOnce(&mut Job) {
    let resume = Resume {
        gate_id: GATE_ID.parse().unwrap(),
        tool_call_id: tool_call_id.map(str::to_owned),
        decision,
        note: Some("not now".into()),
        block: None,
        outcome: None,
    };
    move |job| job.resume = Some(resume)
}

#[tokio::test]
async fn a_call_that_needs_approval_waits_and_runs_as_approved_or_not_at_all() {
    let change = json!({"id": "0193b0a0-0000-7000-8000-0000000000e1", "version": 1, "fields": {"stage": "Won"}});
    let edited = json!({"id": "0193b0a0-0000-7000-8000-0000000000e1", "version": 1, "fields": {"stage": "Lost"}});
    for (decision, stage) in
        [(Decision::Approve(None), "Won"), (Decision::Approve(Some(edited.clone())), "Lost"), (Decision::Deny, "Lead")]
    {
        let model = ScriptedModel::start([ScriptedReply::tool("c1", "entity_write", &change)]).await;
        let fake = fake().await;
        let mut chat = agent(&model, Wire::OpenAi).chat;
        chat.tools = tools(&[Tool::EntityWrite]);
        assert_eq!(work(&fake, chat, |_| {}).await, End::Yielded);
        let yielded = fake.calls("yield").remove(0);
        let paused = json!({"toolCallId": "c1", "toolName": "entity_write", "toolInput": change});
        assert_eq!((&yielded["status"], &yielded["pausedToolCall"]), (&json!("awaiting_tool"), &paused));
        assert!(fake.calls("change").is_empty());

        model.then([ScriptedReply::Text("Done.")]);
        fake.with(|m| m.status = "running".into());
        let mut chat = agent(&model, Wire::OpenAi).chat;
        chat.tools = tools(&[Tool::EntityWrite]);
        assert_eq!(work(&fake, chat, decide(Some("c1"), decision.clone())).await, End::Completed);
        assert_eq!(fake.with(|m| m.entity["fields"]["stage"].clone()), stage);
        let messages = model.requests()[1].body["messages"].to_string();
        assert_eq!(messages.contains("a person refused this call: not now"), decision == Decision::Deny);
    }
}

#[tokio::test]
async fn a_question_waits_for_its_answer_and_an_answer_counts_once() {
    let ask = |id, text: &str| ScriptedReply::tool(id, "ask_person", &json!({"message": text}));
    let model = ScriptedModel::start([ask("c1", "Which stage?"), ask("c2", "Really?")]).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::Anthropic).chat, |_| {}).await, End::Yielded);
    let yielded = fake.calls("yield").remove(0);
    assert_eq!(
        (&yielded["status"], &yielded["question"]),
        (&json!("waiting_human"), &json!({"message": "Which stage?"}))
    );
    let answer = || decide(None, Decision::Answer(json!({"stage": "Won"})));
    for _ in 0..2 {
        // The worker died, so the second claim has the same answer again. It does not answer the next question.
        fake.with(|m| m.status = "running".into());
        assert_eq!(work(&fake, agent(&model, Wire::Anthropic).chat, answer()).await, End::Yielded);
    }
    assert_eq!(answers(&fake), [(json!({"stage": "Won"}), false)]);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_request_that_is_answered_already_gives_its_call_the_answer() {
    let ask = json!({"message": "Which region?"});
    let calls = vec![("c1", "request_feedback", ask.to_string()), ("c2", "ask_person", ask.to_string())];
    let model = ScriptedModel::start([ScriptedReply::ToolCalls("", calls)]).await;
    let fake = fake().await;
    let (id, at) = (GATE_ID, "2026-11-21T08:00:00Z");
    let request = json!({
        "id": id, "sessionId": id, "attempt": 1, "gateId": id, "viewId": id, "viewSlug": "ask", "version": 1,
        "message": "Which region?", "blocking": true, "gate": "member", "audience": null, "askedBy": "system",
        "askedAt": at, "expiresAt": null, "onExpiry": "resume", "idempotencyKey": "c1", "state": "answered",
        "closedAt": at, "fields": [], "schema": {},
    });
    let answer = json!({
        "id": id, "requestId": id, "sessionId": id, "responseSessionId": null, "message": "Which region?",
        "blocking": true, "viewId": id, "version": 1,
        "respondent": {"kind": "user", "label": "ann@acme.test", "assurance": "signed_in"}, "outcome": "answered",
        "answers": {"answer": "EU"}, "note": null, "late": false, "depositedAt": at, "consumedAt": at,
        "consumedAttempt": 1,
    });
    fake.with(|m| m.asked = json!({"request": request, "url": null, "waits": false, "answer": answer}));
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Yielded);
    let answers = answers(&fake);
    let [(output, false)] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!((&output["outcome"], &output["answer"]["answer"]), (&json!("answered"), &json!("EU")));
    assert_eq!(fake.calls("feedback-requests").len(), 1);
    assert_eq!(fake.calls("yield")[0]["question"]["message"], "Which region?");
    assert_eq!(model.requests().len(), 1, "the model is not asked before the question is answered");
}

fn denial(note: &str) -> wire::approval::Denial {
    let denial = json!({"gateId": "0193b0a0-0000-7000-8000-00000000009a", "note": note, "by": "ann@acme.test", "at": "2026-11-21T08:00:00Z"});
    serde_json::from_value(denial).unwrap()
}

#[tokio::test]
async fn a_reviewers_refusal_is_sent_once_and_the_agent_continues() {
    let model = ScriptedModel::start([ScriptedReply::Text("First."), ScriptedReply::Text("Second.")]).await;
    let fake = fake().await;
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, |_| {}).await, End::Completed);
    fake.with(|m| m.status = "running".into());
    let denied = |job: &mut Job| job.denials = vec![denial("Too short.")];
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, denied).await, End::Completed);
    assert_eq!(fake.calls("complete").last().unwrap()["result"], "Second.");
    let messages = model.requests()[1].body["messages"].to_string();
    assert!(messages.contains("First.") && messages.matches("Too short.").count() == 1, "{messages}");
    // The next worker has the result already.
    fake.with(|m| m.status = "running".into());
    assert_eq!(work(&fake, agent(&model, Wire::OpenAi).chat, denied).await, End::Completed);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_result_that_has_to_be_json_is_asked_for_once_more_and_then_fails() {
    for (second, end) in
        [("```json\n{\"stage\": \"Won\"}\n```", End::Completed), ("No.", End::Failed("output_invalid".into()))]
    {
        let model = ScriptedModel::start([ScriptedReply::Text("The stage is Won."), ScriptedReply::Text(second)]).await;
        let fake = fake().await;
        fake.with(|m| {
            m.action = json!({
                "id": "0193b0a0-0000-7000-8000-0000000000a1", "name": "Set the stage", "slug": "s", "description": "Say how far we are.", "agentSlug": "tester",
                "assignedTo": null, "targetEntityId": null, "outputType": "fields", "outputConfig": {"fields": ["stage"]},
                "metadata": {"instructions": "Be honest."}, "status": "active", "createdAt": "2026-11-21T08:00:00Z",
                "updatedAt": "2026-11-21T08:00:00Z"
            });
        });
        assert_eq!(
            work(&fake, agent(&model, Wire::OpenAi).chat, |job| job.session.action_id =
                "0193b0a0-0000-7000-8000-0000000000a1".parse().ok())
            .await,
            end
        );
        let first = model.requests()[0].body.to_string();
        for part in ["Be honest.", "Say how far we are.", "as JSON alone"] {
            assert!(first.contains(part), "{part} in {first}");
        }
        assert!(model.requests()[1].body.to_string().contains("not JSON"));
        if end == End::Completed {
            assert_eq!(fake.calls("complete")[0]["result"], json!({"stage": "Won"}));
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_or_empty_fails_honestly() {
    for (script, code) in
        [(ScriptedReply::Truncated("It is"), "model_truncated"), (ScriptedReply::Text(""), "model_silent")]
    {
        for wire in WIRES {
            let model = ScriptedModel::start([script.clone()]).await;
            let fake = fake().await;
            assert_eq!(work(&fake, agent(&model, wire).chat, |_| {}).await, End::Failed(code.into()));
            assert!(
                fake.with(|m| m.events.last().unwrap()["metadata"]["step"]["inputTokens"] == 100),
                "its cost is kept"
            );
        }
    }
}

#[tokio::test]
async fn a_stopping_worker_leaves_a_silent_model_and_gives_the_session_back() {
    let model = ScriptedModel::start([ScriptedReply::NoAnswer]).await;
    let fake = fake().await;
    let (worker, stop) = fake.worker_of(agent(&model, Wire::OpenAi).chat);
    let lease = fake.lease(Duration::from_secs(60));
    let working = tokio::spawn(async move { worker.work(lease, job(claimed(json!(null)))).await });
    while model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    stop.send_replace(Phase::Releasing);
    assert_eq!(working.await.unwrap(), End::Released);
}
