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

/// The session, and its events after the creation.
async fn log(app: &App, id: &str) -> (Value, Vec<Value>) {
    let session = get(app, &format!("/api/sessions/{id}")).await;
    let events = get(app, &format!("/api/sessions/{id}/events?limit=1000")).await["events"].take();
    let Value::Array(events) = events else { panic!("{events}") };
    (session, events)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_that_the_server_cannot_store_as_it_is_ends_the_session_at_once() {
    let app = App::start();
    let deep = "printf '{\"type\":\"result\",\"result\":1,\"usage\":{\"a\":'; printf '[%.0s' $(seq 110); \
                printf ']%.0s' $(seq 110); printf '}}\\n'";
    for (script, code) in [(r"printf 'a\0b\n' >&2; exit 3", "exit_3"), (deep, "result_refused")] {
        let session = start(&app, json!(null)).await;
        work_once(&app, &["--", "sh", "-c", script]).await;
        let session = get(&app, &format!("/api/sessions/{session}")).await;
        let found = json!([session["status"], session["error"]["code"], session["attempt"]]);
        assert_eq!(found, json!(["failed", code, 1]), "{session}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_runs_again_records_events_with_an_id_of_their_own_once() {
    let app = App::start();
    let session = start(&app, json!(null)).await;
    let uuid = "0193b0a0-0000-7000-8000-00000000abcd";
    let script = format!(
        r#"for id in step-1 {uuid}; do echo "{{\"type\":\"agent.message\",\"id\":\"$id\",\"content\":\"Step.\"}}"; done
        [ -n "$SHIFTBOOK_RESUME" ] || echo '{{"type":"request_feedback","message":"Which region?"}}'"#
    );
    for run in 0..2 {
        work_once(&app, &["--", "sh", "-c", &script]).await;
        if run == 0 {
            let reply = json!({ "content": { "answer": "EU" } });
            app.post(Who::Operator, &format!("/api/sessions/{session}/elicitation-reply"), reply).await;
        }
    }
    let (session, events) = log(&app, &session).await;
    assert_eq!((&session["status"], &session["attempt"]), (&json!("completed"), &json!(2)), "{session}");
    let steps = events.iter().filter(|event| event["type"] == "agent.message");
    let ids: Vec<_> = steps.map(|event| (&event["externalEventId"], event["id"] == uuid)).collect();
    assert_eq!(ids, [(&json!("step-1"), false), (&Value::Null, true)], "{events:?}");
}

/// Denies the output that waits for approval.
async fn deny_output(app: &App) {
    let waiting = get(app, "/api/approvals?assignedTo=all").await["items"][0].clone();
    let denial = json!({ "decision": "deny", "note": "Look again.", "digest": waiting["digest"] });
    let path = format!("{}/api/approvals/{}/decision", app.url, waiting["id"].as_str().unwrap());
    let request = app.http.post(path).header("cookie", app.cookie().await).header("origin", &app.url);
    let answer = request.json(&denial).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_asks_again_after_its_output_was_denied_gets_the_answer_that_people_gave() {
    let app = App::start();
    let at_once = json!({ "undoSeconds": 0 });
    let answer = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&at_once).send().await.unwrap();
    assert!(answer.status().is_success());
    let action = json!({ "name": "Report", "agentSlug": "tester", "metadata": { "requiresApproval": true } });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let path = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let session = app.post(Who::Operator, &path, json!({})).await["id"].as_str().unwrap().to_owned();
    let script = r#"case "$SHIFTBOOK_RESUME" in
        *EU*) echo '{"type":"result","result":"In the EU."}' ;;
        *) echo '{"type":"request_feedback","message":"Which region?"}' ;;
        esac"#;
    for run in 0..3 {
        work_once(&app, &["--", "sh", "-c", script]).await;
        if run == 0 {
            let reply = json!({ "content": { "answer": "EU" } });
            app.post(Who::Operator, &format!("/api/sessions/{session}/elicitation-reply"), reply).await;
        } else if run == 1 {
            deny_output(&app).await;
        }
    }
    let requests = get(&app, &format!("/api/sessions/{session}/feedback-requests")).await;
    assert_eq!(requests["items"].as_array().unwrap().len(), 1, "{requests}");
    let session = get(&app, &format!("/api/sessions/{session}")).await;
    assert_eq!((&session["status"], &session["attempt"]), (&json!("waiting_human"), &json!(3)), "{session}");
    let waiting = get(&app, "/api/approvals?assignedTo=all").await;
    assert_eq!(waiting["items"][0]["kind"], "output", "{waiting}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_requests_the_last_is_made_and_what_is_not_used_is_in_the_log() {
    let app = App::start();
    let ask = r#"echo '{"type":"request_feedback","message":"First?"}'; echo '{"type":"request_feedback","message":"Second?"}'
        echo '{"type":"result","result":null,"usage":{"inputTokens":7}}'"#;
    for (end, status, asked, unasked) in [("0", "waiting_human", json!(["Second?"]), 1), ("1", "failed", json!([]), 2)]
    {
        let session = start(&app, json!(null)).await;
        work_once(&app, &["--", "sh", "-c", &format!("{ask}; exit {end}")]).await;
        let requests = get(&app, &format!("/api/sessions/{session}/feedback-requests")).await;
        let messages: Vec<_> = requests["items"].as_array().unwrap().iter().map(|one| one["message"].clone()).collect();
        let (session, events) = log(&app, &session).await;
        let noted = |note: &str| events.iter().filter(|event| event["metadata"][note] == true).count();
        assert_eq!((&session["status"], json!(messages)), (&json!(status), asked), "{session}");
        assert_eq!((noted("unasked"), noted("unusedResult")), (unasked, 1), "{events:?}");
    }
}

/// A command that yields its session through the API and then ends: for a tool, and then for a message.
const YIELDS_TWICE: &str = r#"yield_to() {
        curl -sSf -o /dev/null -H "authorization: Bearer $SHIFTBOOK_TOKEN" -H "content-type: application/json" \
            -d "{\"attempt\":$SHIFTBOOK_ATTEMPT,\"status\":\"$1\"}" \
            "$SHIFTBOOK_URL/api/sessions/$SHIFTBOOK_SESSION_ID/yield"
    }
    given="{\"input\":$(cat),\"toolResults\":${SHIFTBOOK_TOOL_RESULTS:-null},\"messages\":${SHIFTBOOK_MESSAGES:-null}}"
    case "$SHIFTBOOK_ATTEMPT" in
        1) yield_to awaiting_tool ;;
        2) echo "$given"; yield_to idle ;;
        *) printf '{"type":"result","result":%s}\n' "$given" ;;
    esac"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_yields_its_session_is_run_again_with_the_tool_results_and_messages_that_continue_it() {
    let app = App::start();
    let id = start(&app, json!({ "q": 1 })).await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("second");
    let script = YIELDS_TWICE.replace("echo \"$given\"", &format!("echo \"$given\" > {}", file.display()));
    let run = async |status: &str| {
        work_once(&app, &["--", "sh", "-c", &script]).await;
        let session = get(&app, &format!("/api/sessions/{id}")).await;
        assert_eq!(session["status"], status, "{session}");
        session
    };
    // The worker reports that its command has ended with 0, and the session waits as the command left it.
    run("awaiting_tool").await;
    let results = json!({ "results": [{ "toolCallId": "c1", "output": { "ok": 1.50 }, "isError": true }] });
    app.post(Who::Operator, &format!("/api/sessions/{id}/tool-results"), results).await;
    run("idle").await;
    let second: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!((&second["input"], &second["messages"]), (&json!({ "q": 1 }), &Value::Null));
    let result = &second["toolResults"][0];
    let found = json!([result["toolCallId"], result["output"], result["isError"]]);
    assert_eq!(found, json!(["c1", { "ok": 1.50 }, true]), "{second}");
    app.post(Who::Operator, &format!("/api/sessions/{id}/messages"), json!({ "text": "Also \"Globex\"." })).await;
    let third = run("completed").await["result"].clone();
    assert_eq!((&third["input"], &third["toolResults"]), (&json!({ "q": 1 }), &Value::Null));
    assert_eq!(third["messages"][0]["text"], "Also \"Globex\".", "{third}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coding_agent_has_the_message_that_continues_its_session_in_its_prompt() {
    let app = App::start();
    let id = start(&app, Value::Null).await;
    let claim = json!({ "agentSlugs": ["tester"] });
    app.post(Who::Worker, "/api/sessions/claim", claim).await;
    app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), json!({ "attempt": 1, "status": "idle" })).await;
    app.post(Who::Operator, &format!("/api/sessions/{id}/messages"), json!({ "text": "Also Globex." })).await;
    let printed = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/runner/src/execute/command/fixtures/claude.jsonl");
    let dir = tempfile::tempdir().unwrap();
    let prompt = dir.path().join("prompt");
    let script = format!("cat > {}; cat {printed}", prompt.display());
    work_once(&app, &["--format", "claude-code", "--", "sh", "-c", &script]).await;
    let prompt = std::fs::read_to_string(prompt).unwrap();
    assert!(prompt.contains("you were sent:\nAlso Globex."), "{prompt}");
}
