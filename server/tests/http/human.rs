//! Human sessions over HTTP: with a person's cookie, and what tokens can read.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, add_person},
};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

struct Person<'a> {
    app: &'a App,
    cookie: String,
}

impl Person<'_> {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.app.http.request(method, format!("{}{path}", self.app.url));
        request.header("cookie", &self.cookie).header("origin", &self.app.url)
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        let request = self.request(method, path);
        body.map_or(request.try_clone().unwrap(), |body| request.json(&body)).send().await.unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.send(Method::GET, path, None).await;
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let answer = self.send(Method::POST, path, Some(body)).await;
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }
}

/// The recorder reads the entity type from the page, because the path does not name it.
#[tokio::test]
async fn the_page_of_an_entity_names_its_type() {
    let app = App::start();
    let of = json!({ "name": "Companies", "slug": "companies", "fields": [] });
    let of = app.post(Who::Admin, "/api/entity-types", of).await;
    let acme = json!({ "typeId": of["id"], "title": "Acme" });
    let acme = app.post(Who::Member, "/api/entities", acme).await["id"].as_str().unwrap().to_owned();
    let ada = Person { cookie: app.cookie().await, app: &app };
    let page = ada.send(Method::GET, &format!("/entities/{acme}"), None).await.text().await.unwrap();
    assert!(page.contains("data-entity-type=\"companies\""), "{page}");
}

#[tokio::test]
async fn members_make_tasks_for_themselves_on_the_page_and_over_http() {
    let app = App::start();
    add_person(&app, "bob@acme.test");
    let mut bob = Browser::of(&app, "bob@acme.test").await;
    let page = bob.page("/working-on").await;
    assert!(page.contains("action=\"/fn/working-on/create\"") && page.contains(" data-may-create"), "{page}");
    let made = bob.post("/fn/working-on/create", &[("name", "Call Acme"), ("next", "/working-on")]).await;
    assert_eq!(made.status(), StatusCode::SEE_OTHER);
    assert!(bob.page("/working-on").await.contains("Call Acme"));
    // Creating an action for another person, or for an agent, needs the role operator.
    let refused = app.request(Who::Member, Method::POST, "/api/actions").json(&json!({ "name": "x" })).send().await;
    assert_eq!(problem(refused.unwrap()).await.0, 403);
}

#[tokio::test]
async fn a_person_works_on_a_task_and_an_agent_gets_the_context() {
    let app = App::start();
    let ada = Person { cookie: app.cookie().await, app: &app };
    let me = ada.get("/api/me").await;
    let task = json!({ "name": "Q2 review", "assignedTo": me["user"]["id"], "agentSlug": "scout" });
    let task = ada.post("/api/actions", task).await;
    let mail = ada.post("/api/actions", json!({ "name": "Mail" })).await;
    let mine = ada.get("/api/actions?assignedTo=me&status=active&q=REVIEW").await;
    assert_eq!(mine["items"].as_array().unwrap().len(), 1);

    assert_eq!(ada.get("/api/sessions/human/active").await, json!({ "session": null }));
    let nothing = ada.get("/api/sessions/human/recent-activity").await;
    assert_eq!((&nothing["text"], &nothing["sessionId"]), (&Value::Null, &Value::Null));
    let first = ada.post("/api/sessions/human/start", json!({ "taskId": mail["id"] })).await;
    let started = ada.post("/api/sessions/human/start", json!({ "taskId": task["id"] })).await;
    assert_eq!(started["superseded"], first["session"]["id"]);
    assert_eq!(
        (&started["session"]["sessionType"], &started["session"]["status"]),
        (&json!("mixed"), &json!("running"))
    );
    let active = ada.get("/api/sessions/human/active").await;
    assert_eq!((&active["session"]["id"], &active["task"]["id"]), (&started["session"]["id"], &task["id"]));

    let id = started["session"]["id"].as_str().unwrap();
    let events = json!({ "events": [
        { "id": "01890000-0000-7000-8000-000000000001", "type": "human.navigate", "metadata": { "pathname": "/today", "at": "2026-07-01T12:00:00Z" } },
        { "id": "01890000-0000-7000-8000-000000000002", "type": "human.marker", "content": "drafting", "metadata": { "at": "2026-07-01T12:01:00Z" } },
    ] });
    let path = format!("/api/sessions/{id}/events");
    let landed = ada.post(&path, events.clone()).await;
    assert_eq!(ada.post(&path, events).await, landed, "a repeat adds nothing");
    let text = ada.request(Method::GET, "/api/sessions/human/recent-activity").header("accept", "text/plain");
    let text = text.send().await.unwrap();
    assert_eq!(text.headers()["content-type"], "text/plain; charset=utf-8");
    let text = text.text().await.unwrap();
    assert!(text.contains("Working on: **Q2 review**") && text.contains("- 12:01 marker \"drafting\""), "{text}");

    ada.post(&format!("/api/actions/{}/trigger", task["id"].as_str().unwrap()), json!({})).await;
    let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    let context = claimed["sessions"][0]["context"].as_str().unwrap();
    assert!(context.contains("- 12:01 marker \"drafting\""), "{context}");

    let day = ada.get("/api/sessions/human/today?timezone=Europe/Berlin").await;
    assert_eq!((day["sessions"].as_array().unwrap().len(), day["tasks"].as_array().unwrap().len()), (2, 2));
    let stopped = ada.post("/api/sessions/human/stop", json!({ "sessionId": id })).await;
    assert_eq!((&stopped["status"], &stopped["endReason"]), (&json!("completed"), &json!("done")));
    assert_eq!(ada.post("/api/sessions/human/stop", json!({ "sessionId": id })).await, stopped);
    let none = ada.request(Method::GET, "/api/sessions/human/recent-activity").header("accept", "text/plain");
    assert_eq!(none.send().await.unwrap().status(), 204);
}

#[tokio::test]
async fn a_personal_token_reads_recent_activity_and_starts_no_work() {
    let app = App::start();
    let ada = Person { cookie: app.cookie().await, app: &app };
    let task = ada.post("/api/actions", json!({ "name": "Q2 review" })).await;
    let id = ada.post("/api/sessions/human/start", json!({ "taskId": task["id"] })).await;
    let id = id["session"]["id"].as_str().unwrap();
    let mut add = app.cli();
    add.args(["token", "add", "--tenant", "acme", "--name", "mine", "--role", "admin", "--user", "ada@acme.test"]);
    let added = add.output().unwrap();
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let token = String::from_utf8(added.stdout).unwrap();
    let ask =
        |method: Method, path: &str| app.http.request(method, format!("{}{path}", app.url)).bearer_auth(token.trim());
    let context: Value =
        ask(Method::GET, "/api/sessions/human/recent-activity").send().await.unwrap().json().await.unwrap();
    assert!(context["text"].as_str().unwrap().contains("Q2 review"));
    let marker = json!({ "events": [{ "type": "human.marker", "content": "not me" }] });
    for refused in [
        ask(Method::POST, "/api/sessions/human/start").json(&json!({ "taskId": task["id"] })),
        ask(Method::POST, "/api/sessions/human/stop").json(&json!({ "sessionId": id })),
        ask(Method::GET, "/api/sessions/human/active"),
        ask(Method::POST, &format!("/api/sessions/{id}/events")).json(&marker),
    ] {
        let (status, problem) = problem(refused.send().await.unwrap()).await;
        assert_eq!((status, problem["code"].as_str()), (403, Some("forbidden")), "{problem}");
    }
    let wrong = app
        .cli()
        .args(["token", "add", "--tenant", "acme", "--name", "x", "--role", "member"])
        .args(["--user", "nobody@acme.test"])
        .output()
        .unwrap();
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("not a member"));
}

#[tokio::test]
async fn bad_input_of_a_person_gets_precise_errors() {
    let app = App::start();
    let ada = Person { cookie: app.cookie().await, app: &app };
    let none = "00000000-0000-7000-8000-000000000000";
    let task = ada.post("/api/actions", json!({ "name": "Old" })).await;
    let path = format!("/api/actions/{}", task["id"].as_str().unwrap());
    ada.send(Method::PATCH, &path, Some(json!({ "status": "archived" }))).await;
    for (path, body, status, code) in [
        ("start", json!({ "taskId": "x" }), 422, "invalid_request"),
        ("start", json!({ "taskId": none }), 404, "not_found"),
        ("start", json!({ "taskId": task["id"] }), 422, "invalid_request"),
        ("start", json!({}), 422, "invalid_request"),
        ("stop", json!({ "sessionId": none }), 404, "not_found"),
        ("stop", json!({ "sessionId": "x" }), 422, "invalid_request"),
    ] {
        let answer = ada.send(Method::POST, &format!("/api/sessions/human/{path}"), Some(body.clone())).await;
        let (got, problem) = problem(answer).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path} {body}: {problem}");
        assert!(status != 422 || problem["errors"].as_array().is_some_and(|e| !e.is_empty()), "{problem}");
    }
    for path in ["/api/sessions/human/today?timezone=Mars/Base", "/api/actions?assignedTo=you", "/api/actions?q="] {
        let status = ada.send(Method::GET, path, None).await.status().as_u16();
        assert_eq!(
            status,
            if path.ends_with("q=") {
                200
            } else if path.contains("assigned") {
                400
            } else {
                422
            },
            "{path}"
        );
    }
}
