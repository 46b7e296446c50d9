//! Pages of tasks: which links lead to running a task.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const TRIGGER: &str = "/fn/action/trigger";
const ADA: &str = "ada@acme.test";

async fn send(app: &App, method: Method, path: &str, body: &Value) -> Value {
    let answer = app.request(Who::Admin, method, path).json(body).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
    answer.json().await.unwrap()
}

async fn task_of_ada(app: &App, ada: &Browser<'_>, metadata: Value) -> String {
    let me: Value = ada.ask(Method::GET, "/api/me", &[]).await.json().await.unwrap();
    let new = json!({ "name": "Report", "agentSlug": "scout", "assignedTo": me["user"]["id"], "metadata": metadata });
    send(app, Method::POST, "/api/actions", &new).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_task_that_needs_an_input_leads_to_its_form() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let schema = json!({ "required": ["week"], "properties": { "week": { "type": "integer", "title": "Week" } } });
    let id = task_of_ada(&app, &ada, json!({ "inputSchema": schema })).await;
    for path in ["/today/section/delegatable", "/actions"] {
        let page = ada.page(path).await;
        assert!(page.contains(&format!("href=\"/actions/{id}#run\"")), "{path}: {page}");
        assert!(!page.contains(TRIGGER), "{path}: {page}");
    }
    let address = format!("/actions/{id}");
    let own = [("action_id", id.as_str()), ("next", "/sessions/{id}"), ("page", address.as_str())];
    let refused = ada.ask(Method::POST, TRIGGER, &own).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    assert!(page.contains("id=\"run\"") && page.contains("aria-invalid=\"true\""), "{page}");
    let wrong = json!({ "input": { "week": "soon" } });
    let wrong =
        app.request(Who::Member, Method::POST, &format!("/api{address}/trigger")).json(&wrong).send().await.unwrap();
    let (status, refusal) = problem(wrong).await;
    assert_eq!((status, &refusal["errors"][0]["field"]), (422, &json!("input.week")), "{refusal}");
    let sent = ada.ask(Method::POST, TRIGGER, &[&own[..], &[("input.week", "47")]].concat()).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);

    let free = json!({ "properties": { "week": { "type": "integer", "default": 1 } }, "required": ["week"] });
    let id = task_of_ada(&app, &ada, json!({ "inputSchema": free })).await;
    assert!(ada.page("/today/section/delegatable").await.contains(TRIGGER));
    assert_eq!(
        ada.ask(Method::POST, TRIGGER, &[("action_id", &id), ("next", "/sessions/{id}")]).await.status(),
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn run_again_is_not_offered_where_the_task_is_archived() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let id = task_of_ada(&app, &ada, json!({})).await;
    let made = send(&app, Method::POST, &format!("/api/actions/{id}/trigger"), &json!({})).await;
    let session = made["id"].as_str().unwrap();
    send(&app, Method::POST, &format!("/api/sessions/{session}/cancel"), &json!({})).await;
    let retry = "/fn/session/retry";
    let pages = [format!("/sessions/{session}"), "/today/section/failed".to_owned()];
    for path in &pages {
        assert!(ada.page(path).await.contains(retry), "{path}");
    }
    send(&app, Method::PATCH, &format!("/api/actions/{id}"), &json!({ "status": "archived" })).await;
    for path in &pages {
        assert!(!ada.page(path).await.contains(retry), "{path}");
    }
    assert!(ada.page(&pages[0]).await.contains("Its task is archived, so it cannot be run again."));
    let refused = ada.ask(Method::POST, retry, &[("session_id", session), ("page", &pages[0])]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
}
