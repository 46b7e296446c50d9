//! P-33 in small: bad input gets a precise 4xx, nothing answers 500.

use crate::app::{App, Who, problem};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn each_bad_request_is_told_what_is_wrong() {
    let app = App::start();
    let id = app.running(Who::Operator).await;
    let none = "00000000-0000-7000-8000-000000000000";
    let json_cases = [
        ("/api/actions", json!({ "nme": "x" }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "" }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "slug": "Not A Slug" }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "metadata": [] }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "assignedTo": none }), 422, "invalid_request"),
        ("/api/actions", json!([]), 422, "invalid_request"),
        ("/api/sessions", json!({ "sessionType": "robot" }), 422, "invalid_request"),
        ("/api/sessions", json!({ "sessionType": "agent", "parentId": none }), 404, "not_found"),
        ("/api/sessions/claim", json!({ "max": 0 }), 422, "invalid_request"),
        ("/api/sessions/claim", json!({ "leaseSeconds": 1_000_000 }), 422, "invalid_request"),
    ];
    for (path, body, status, code) in json_cases {
        let response = app.request(Who::Operator, Method::POST, path).json(&body).send().await.unwrap();
        let (got, problem) = problem(response).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path} {body}: {problem}");
        if status == 422 {
            assert!(
                problem["errors"].as_array().is_some_and(|e| !e.is_empty()) || problem["detail"].is_string(),
                "{problem}"
            );
        }
    }
    let append = |body: serde_json::Value| {
        app.request(Who::Worker, Method::POST, &format!("/api/sessions/{id}/events")).json(&body).send()
    };
    for (body, status, field) in [
        (json!({ "attempt": 1, "events": [] }), 422, "events"),
        (json!({ "attempt": 1, "events": [{ "type": "agent.message" }, { "type": "x" }] }), 422, "events[1].type"),
        (json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": 7 }] }), 422, "events[0].content"),
        (json!({ "attempt": 1, "events": [{ "type": "agent.message", "metadata": [] }] }), 422, "events[0].metadata"),
        (json!({ "attempt": 1, "events": [{ "type": "user.message" }] }), 403, "events[0].type"),
    ] {
        let (got, problem) = problem(append(body.clone()).await.unwrap()).await;
        assert_eq!(got, status, "{body}: {problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{body}: {problem}");
    }
    let (status, stale) =
        problem(append(json!({ "attempt": 9, "events": [{ "type": "agent.message" }] })).await.unwrap()).await;
    assert_eq!((status, stale["code"].as_str()), (409, Some("stale_attempt")), "{stale}");
}

#[tokio::test]
async fn what_is_not_even_json_and_what_is_nowhere() {
    let app = App::start();
    let raw = |path: &str, kind: &str, body: &str| {
        let request = app.request(Who::Operator, Method::POST, path);
        request.header("content-type", kind).body(body.to_owned()).send()
    };
    for (path, kind, body, status, code) in [
        ("/api/actions", "application/json", "{", 400, "invalid_json"),
        ("/api/actions", "application/json", "", 400, "invalid_json"),
        ("/api/actions", "text/plain", "{}", 415, "unsupported_media_type"),
        ("/api/actions/nonsense/trigger", "application/json", "{}", 400, "invalid_id"),
    ] {
        let (got, problem) = problem(raw(path, kind, body).await.unwrap()).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path} {body:?}: {problem}");
    }
    for (path, status, code) in [
        ("/api/nothing", 404, "not_found"),
        ("/api/sessions/x", 400, "invalid_id"),
        ("/api/sessions/00000000-0000-7000-8000-000000000000", 404, "not_found"),
        ("/api/sessions?cursor=x", 400, "invalid_cursor"),
        ("/api/sessions?limit=0", 422, "invalid_request"),
        ("/api/sessions?limit=1001", 422, "invalid_request"),
        ("/api/sessions?nonsense=1", 422, "invalid_request"),
        ("/api/sessions?status=sleeping", 422, "invalid_request"),
        ("/api/today/work-queue-counts?timezone=Mars/Base", 422, "invalid_request"),
    ] {
        let (got, problem) = problem(app.request(Who::Operator, Method::GET, path).send().await.unwrap()).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path}: {problem}");
    }
    let (status, problem) =
        problem(app.request(Who::Operator, Method::DELETE, "/api/actions").send().await.unwrap()).await;
    assert_eq!((status, problem["code"].as_str()), (405, Some("method_not_allowed")));
}
