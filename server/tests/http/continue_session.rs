//! Continuing sessions over HTTP that their worker left idle or waiting for a custom tool, and sessions that cannot be
//! created by themselves.

use crate::app::{App, Who, problem};
use crate::feedback_request::{claim, running};
use reqwest::Method;
use serde_json::{Value, json};

async fn park(app: &App, session: &str, attempt: u32, status: &str) {
    let body = json!({ "attempt": attempt, "status": status, "detail": "The build runs elsewhere." });
    let parked = app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), body).await;
    assert_eq!(parked["status"], status);
}

async fn refused(app: &App, who: Who, path: &str, body: &Value) -> (u16, Value) {
    problem(app.request(who, Method::POST, path).json(body).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_session_goes_on_with_a_message_and_ends() {
    let app = App::start();
    let session = running(&app).await;
    park(&app, &session, 1, "idle").await;
    let path = format!("/api/sessions/{session}/messages");
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let message = json!({ "text": "Also look at Globex.", "id": id });
    let sent = app.post(Who::Operator, &path, message.clone()).await;
    assert_eq!((&sent["eventId"], &sent["session"]["status"]), (&json!(id), &json!("pending")), "{sent}");
    assert_eq!(app.post(Who::Operator, &path, message).await["sequence"], sent["sequence"]);
    let claimed = claim(&app).await;
    assert_eq!((&claimed["session"]["id"], &claimed["attempt"]), (&json!(session), &json!(2)));
    let (status, why) = refused(&app, Who::Operator, &path, &json!({ "text": "x" })).await;
    assert_eq!((status, &why["code"]), (409, &json!("wrong_status")), "{why}");
    park(&app, &session, 2, "idle").await;
    let woken = app.post(Who::Worker, &format!("/api/sessions/{session}/wake"), json!({ "attempt": 2 })).await;
    assert_eq!((&woken["status"], &woken["attempt"]), (&json!("running"), &json!(2)), "{woken}");
    let done = json!({ "attempt": 2, "result": "42" });
    let done = app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), done).await;
    assert_eq!((&done["status"], &done["result"]), (&json!("completed"), &json!("42")), "{done}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_waits_for_a_custom_tool_goes_on_with_its_result() {
    let app = App::start();
    let session = running(&app).await;
    let call = json!([{ "type": "tool-call", "toolCallId": "c1", "toolName": "build", "input": {} }]);
    let events = json!({ "attempt": 1, "events": [{ "type": "agent.tool_call", "content": call }] });
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), events).await;
    park(&app, &session, 1, "awaiting_tool").await;
    let path = format!("/api/sessions/{session}/tool-results");
    let output = json!({ "ok": true, "exact": 1.50 });
    let results = json!({ "results": [{ "toolCallId": "c1", "output": output }] });
    for who in [Who::Member, Who::Worker] {
        let (status, why) = refused(&app, who, &path, &results).await;
        assert_eq!((status, &why["code"]), (403, &json!("forbidden")), "{why}");
    }
    let wrong = json!({ "results": [{ "toolCallId": "c9", "output": 1 }] });
    let (status, why) = refused(&app, Who::Operator, &path, &wrong).await;
    assert_eq!((status, &why["errors"][0]["field"]), (422, &json!("results[0].toolCallId")), "{why}");
    let queued = app.request(Who::Operator, Method::POST, &path).json(&results).send().await.unwrap();
    assert_eq!(queued.status(), 200);
    let given = claim(&app).await["toolResults"].clone();
    assert_eq!((&given[0]["toolCallId"], &given[0]["toolName"]), (&json!("c1"), &json!("build")), "{given}");
    assert_eq!((&given[0]["output"], &given[0]["isError"]), (&output, &json!(false)));
    let log =
        app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}/events?eventTypes=user.tool_result"));
    let log: Value = log.send().await.unwrap().json().await.unwrap();
    assert_eq!((&log["events"][0]["role"], log["events"].as_array().unwrap().len()), (&json!("user"), 1), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_free_response_or_mixed_session_is_refused_with_the_reason() {
    let app = App::start();
    for (kind, instead) in [("response", "submit-interaction"), ("mixed", "/api/sessions/human/start")] {
        let body = json!({ "sessionType": kind, "title": "By hand" });
        let (status, why) = refused(&app, Who::Operator, "/api/sessions", &body).await;
        assert_eq!((status, &why["errors"][0]["field"]), (422, &json!("sessionType")), "{why}");
        assert!(why["errors"][0]["message"].as_str().unwrap().contains(instead), "{why}");
    }
}
