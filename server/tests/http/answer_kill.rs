//! The server is killed at a random time while a worker takes an answer, repeatedly. Each answer is taken once. The
//! worker that repeats its call gets it, whether or not the first response arrived.

use crate::app::{App, Who};
use crate::feedback_request::running;
use crate::kills::Kills;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::Engine;

/// Default number of rounds per engine. `SHIFTBOOK_ANSWER_KILL_ROUNDS` sets another one; the long tier runs 1,000.
const ROUNDS: usize = 12;

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_ANSWER_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

pub async fn get(app: &App, path: &str) -> Value {
    let response = app.request(Who::Admin, Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "GET {path}: {}", response.status());
    response.json().await.unwrap()
}

/// Sends a call as a worker or a member does. `None` if there was no answer.
pub async fn send(app: &App, who: Who, path: &str, body: &Value) -> Option<Value> {
    let response = app.request(who, Method::POST, path).json(body).send().await.ok()?;
    response.json().await.ok()
}

/// Answers, and takes the answer, as far as the server lives.
async fn answer_and_take(app: &App, session: &str, request: &str) -> Option<Value> {
    let answer = json!({ "content": { "answer": "EU" } });
    send(app, Who::Operator, &format!("/api/feedback-requests/{request}/answer"), &answer).await?;
    take(app, session, "call").await
}

/// Takes answers with the call that has this key.
async fn take(app: &App, session: &str, call: &str) -> Option<Value> {
    let body = json!({ "attempt": 1, "idempotencyKey": call });
    send(app, Who::Worker, &format!("/api/sessions/{session}/answers/take"), &body).await
}

async fn killed_at_any_instant(mut app: App) {
    let mut kills = Kills::default();
    // Nothing disturbs the first round.
    for round in 0..=rounds() {
        let session = running(&app).await;
        let ask = json!({ "attempt": 1, "message": "Where?", "blocking": false, "idempotencyKey": "k" });
        let asked = app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), ask).await;
        let request = asked["request"]["id"].as_str().unwrap().to_owned();
        let taken = kills.interrupt(answer_and_take(&app, &session, &request)).await.flatten();
        app.kill();
        app.serve_again();
        let answers_of = format!("/api/sessions/{session}/answers");
        kills.count(taken.is_some(), get(&app, &answers_of).await["items"][0]["consumedAttempt"] == 1);
        // The member and the worker repeat what they do not know to be done.
        let again = answer_and_take(&app, &session, &request).await.unwrap();
        let given = |taken: &Value| taken["input"].as_array().map_or(0, Vec::len);
        assert!(taken.as_ref().is_none_or(|taken| given(taken) == 1), "round {round}: {taken:?}");
        assert_eq!(given(&again), 1, "round {round}: the answer is lost");
        let other = take(&app, &session, "another call").await.unwrap();
        assert_eq!(given(&other), 0, "round {round}: taken twice");
        let all = get(&app, &answers_of).await;
        let items = all["items"].as_array().unwrap();
        assert_eq!(
            (items.len(), &items[0]["consumedAttempt"]),
            (1, &json!(1)),
            "round {round}, killed after {:?}",
            kills.after
        );
        let log = get(&app, &format!("/api/sessions/{session}/events")).await;
        let count = |kind: &str| log["events"].as_array().unwrap().iter().filter(|e| e["type"] == kind).count();
        // The log has the answer and its injection once, whether or not the worker heard of it.
        assert_eq!((count("user.form_submit"), count("session.context_injected")), (1, 1), "round {round}");
        app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), json!({})).await;
    }
    kills.report();
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_taken_once_however_the_server_is_killed_on_sqlite() {
    killed_at_any_instant(App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_taken_once_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    killed_at_any_instant(App::start_on(url)).await;
    engine.discard().await;
}
