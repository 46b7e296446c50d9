//! Decisions over HTTP: a repeated decision is answered with the recorded one.

use crate::app::{App, Who};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Creates an output with two values that waits for a decision. Returns the ids of its action and its approval.
async fn waiting(app: &App) -> (String, String) {
    let of = json!({ "name": "Company", "slug": "company", "fields": [
        { "slug": "stage", "name": "Stage", "type": "text" }, { "slug": "size", "name": "Size", "type": "number" }] });
    let of = app.post(Who::Operator, "/api/entity-types", of).await;
    let entity = app.post(Who::Member, "/api/entities", json!({ "typeId": of["id"], "title": "Acme" })).await;
    let action = json!({
        "name": "Qualify", "slug": "qualify", "agentSlug": "scout", "targetEntityId": entity["id"],
        "outputType": "entity", "metadata": { "requiresApproval": true },
    });
    let action = app.post(Who::Operator, "/api/actions", action).await["id"].as_str().unwrap().to_owned();
    let session = app.post(Who::Member, &format!("/api/actions/{action}/trigger"), json!({})).await;
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    let result = json!({ "attempt": 1, "result": { "stage": "Won", "size": 12 } });
    let path = format!("/api/sessions/{}/complete", session["id"].as_str().unwrap());
    app.post(Who::Worker, &path, result).await;
    let open: Value =
        app.request(Who::Admin, reqwest::Method::GET, "/api/approvals").send().await.unwrap().json().await.unwrap();
    (action, open["items"][0]["id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_by_action_takes_its_kind_from_the_approval_and_can_be_sent_again() {
    let app = App::start();
    let (action, approval) = waiting(&app).await;
    let cookie = app.cookie().await;
    let send = async |body: Value| {
        let request = app.http.post(format!("{}/api/actions/{action}/tool-approval", app.url));
        let request = request.header("cookie", &cookie).header("sec-fetch-site", "same-origin").json(&body);
        let response = request.send().await.unwrap();
        (response.status(), response.json::<Value>().await.unwrap())
    };
    let (status, refused) = send(json!({ "decision": "approve", "modifiedArgs": { "size": 13 } })).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("modifiedArgs")));
    let edit = json!({ "decision": "approve", "modifiedOutput": { "size": 13 } });
    for _ in 0..2 {
        let (status, answer) = send(edit.clone()).await;
        assert_eq!((status, &answer["id"]), (StatusCode::OK, &json!(approval)), "{answer}");
        assert_eq!((&answer["decision"]["decision"], &answer["decision"]["number"]), (&json!("edit"), &json!(1)));
    }
    let (status, _) = send(json!({ "decision": "deny", "note": "No." })).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_is_sent_again_is_answered_with_the_recorded_decision() {
    let app = App::start();
    let (_, approval) = waiting(&app).await;
    let cookie = app.cookie().await;
    let item: Value = {
        let request = app.http.get(format!("{}/api/approvals/{approval}", app.url)).header("cookie", &cookie);
        request.send().await.unwrap().json().await.unwrap()
    };
    let digest = item["approval"]["digest"].as_str().unwrap();
    let send = async |size| {
        let form = [
            ("id", approval.as_str()),
            ("decision", "approve"),
            ("digest", digest),
            ("value.stage", "Won"),
            ("value.size", size),
        ];
        let request = app.http.post(format!("{}/fn/inbox/decide", app.url)).header("cookie", &cookie);
        request.header("origin", &app.url).form(&form).send().await.unwrap().status()
    };
    assert_eq!(
        [send("13").await, send("13").await, send("14").await],
        [StatusCode::OK, StatusCode::OK, StatusCode::CONFLICT]
    );
}
