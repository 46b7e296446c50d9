//! `shiftbook work` with a real server.

use crate::app::{App, Who};
use reqwest::Method;
use serde_json::{Value, json};
use std::process::{ExitStatus, Stdio};

/// Runs `shiftbook work` for one session of the agent `tester`.
async fn work_once(app: &App, more: &[&str]) -> ExitStatus {
    let mut command = app.cli();
    command.args(["work", "--agent", "tester", "--once", "--url", &app.url]).args(more);
    command.env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap()).stderr(Stdio::null());
    tokio::task::spawn_blocking(move || command.status().unwrap()).await.unwrap()
}

async fn start(app: &App, input: Value) -> String {
    let body = json!({ "sessionType": "agent", "agentSlug": "tester", "title": "Say hello", "input": input });
    app.post(Who::Operator, "/api/sessions", body).await["id"].as_str().unwrap().to_owned()
}

async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_works_on_one_session_and_its_end_is_the_exit_code() {
    let app = App::start();
    for (script, status) in [("cat", "completed"), ("exit 1", "failed")] {
        let session = start(&app, json!({ "q": 1 })).await;
        let exit = work_once(&app, &["--", "sh", "-c", script]).await;
        assert_eq!(exit.success(), status == "completed");
        assert_eq!(get(&app, &format!("/api/sessions/{session}")).await["status"], status);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coding_agents_run_is_a_transcript_with_a_result_and_its_cost() {
    let app = App::start();
    let session = start(&app, Value::Null).await;
    let printed = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/runner/src/execute/command/fixtures/claude.jsonl");
    let exit = work_once(&app, &["--format", "claude-code", "--", "cat", printed]).await;
    assert!(exit.success());
    let ended = get(&app, &format!("/api/sessions/{session}")).await;
    assert_eq!((&ended["result"], &ended["usage"]["costUsd"]), (&json!("It says hello."), &json!(0.002375)));
    let log = get(&app, &format!("/api/sessions/{session}/events")).await;
    let kinds: Vec<_> = log["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    let agents: Vec<_> = kinds.iter().filter(|kind| kind.starts_with("agent.")).collect();
    assert_eq!(agents, [&"agent.message", &"agent.tool_call", &"agent.tool_result", &"agent.message"]);
}
