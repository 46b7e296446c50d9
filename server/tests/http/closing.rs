//! Ending a conversation whose agent is a model that the server runs: its closing summary, and each reason for which
//! there is none.

use crate::app::{App, Who};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, ScriptedReply};

async fn serve(script: impl IntoIterator<Item = ScriptedReply>) -> (App, ScriptedModel) {
    let model = ScriptedModel::start(script).await;
    let settings = format!(
        "[agents.clerk]\nadapter = \"chat\"\nworkspace = \"acme\"\nwire = \"openai\"\nbase_url = \"{}\"\nmodel = \"m-1\"\n",
        model.base_url
    );
    (App::start_with(&settings, &[], &[]), model)
}

async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

/// Starts a conversation with the clerk and waits until its first turn has ended. Returns its id.
async fn rested(app: &App) -> String {
    let new = json!({ "agent": "clerk", "message": "Who comes today?" });
    let id = app.post(Who::Operator, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
    loop {
        let thread = get(app, &format!("/api/threads/{id}")).await;
        match thread["status"].as_str().unwrap() {
            "idle" => return id,
            "pending" | "running" => tokio::task::yield_now().await,
            other => panic!("{other}: {thread}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_sums_up_once_and_what_it_says_is_no_turn() {
    let (app, model) =
        serve([ScriptedReply::Text("Acme comes."), ScriptedReply::Text("You asked who comes: Acme.")]).await;
    let id = rested(&app).await;
    let log = format!("/api/sessions/{id}/events");
    let before = get(&app, &log).await;
    // The button is pressed in two windows.
    let path = format!("/threads/{id}/end");
    let end = || app.post(Who::Operator, &path, json!({ "feedback": "positive" }));
    let (ended, again) = tokio::join!(end(), end());
    assert_eq!(ended["summary"], again["summary"]);
    let summary = &ended["summary"];
    assert_eq!((&summary["by"], &summary["closing"]), (&json!("agent"), &json!("You asked who comes: Acme.")));
    assert_eq!((&summary["lastReply"], &summary["closingMissing"]), (&json!("Acme comes."), &Value::Null));
    assert_eq!(ended["thread"]["status"], "completed");
    assert_eq!(model.requests().len(), 2, "a turn and a summary");
    let session = get(&app, &format!("/api/sessions/{id}")).await;
    assert_eq!(session["result"]["summary"], *summary);
    assert_eq!((&session["usage"]["steps"], &session["usage"]["inputTokens"]), (&json!(2), &json!(200)));
    // The end adds no message and no training data: the log only has the events of the end.
    let after = get(&app, &log).await;
    let fresh = after["events"].as_array().unwrap()[before["events"].as_array().unwrap().len()..].to_vec();
    let kinds: Vec<_> = fresh.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session.completed", "session.status_change"]);
    assert!(!Value::from(fresh).to_string().contains("Acme"));
    let captured = loop {
        let page = get(&app, &format!("/api/interactions?sessionId={id}")).await;
        if page["items"].as_array().is_some_and(|items| !items.is_empty()) {
            break page;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(captured["items"].as_array().unwrap().len(), 1, "{captured}");
    assert!(!captured.to_string().contains("You asked who comes"), "{captured}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_failure_of_the_model_the_summary_has_quotations_and_without_a_summary_no_model_is_asked() {
    let broken = ScriptedReply::Status(500, None, "out of order");
    let (app, model) = serve([ScriptedReply::Text("Acme comes."), broken, ScriptedReply::Text("Acme comes.")]).await;
    let id = rested(&app).await;
    let ended = app.post(Who::Operator, &format!("/threads/{id}/end"), json!({})).await;
    let summary = &ended["summary"];
    assert_eq!((&summary["by"], &summary["closing"]), (&json!("log"), &Value::Null));
    assert_eq!(summary["lastReply"], "Acme comes.");
    let why = summary["closingMissing"].as_str().unwrap();
    assert!(why.contains("500") && why.contains("out of order"), "{why}");
    assert_eq!(ended["thread"]["status"], "completed");
    assert_eq!(model.requests().len(), 2, "it is not asked again");

    let id = rested(&app).await;
    let ended = app.post(Who::Operator, &format!("/threads/{id}/end"), json!({ "summary": false })).await;
    assert_eq!((&ended["summary"], model.requests().len()), (&Value::Null, 3));
    // A conversation without messages, and one with an agent that the server does not run.
    for new in [json!({ "agent": "clerk" }), json!({ "agent": "scout", "message": "Hello" })] {
        let id = app.post(Who::Operator, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
        let ended = app.post(Who::Operator, &format!("/threads/{id}/end"), json!({})).await;
        let summary = &ended["summary"];
        assert_eq!((&summary["by"], &summary["closingMissing"]), (&json!("log"), &Value::Null));
    }
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_stalls_is_left_after_the_time_that_an_ending_has() {
    let (app, model) = serve([ScriptedReply::Text("Acme comes."), ScriptedReply::NoAnswer]).await;
    let id = rested(&app).await;
    let ended = app.post(Who::Operator, &format!("/threads/{id}/end"), json!({ "feedback": "skip" })).await;
    assert_eq!((&ended["thread"]["status"], &ended["summary"]["by"]), (&json!("completed"), &json!("log")));
    assert_eq!(ended["summary"]["closingMissing"], "the agent took longer than 10 seconds");
    assert_eq!(model.requests().len(), 2);
}
