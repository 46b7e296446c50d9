//! Server functions: what scripts get, and what forms without scripts get.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, add_person},
    prepare_functions::fresh_uuid,
};
use reqwest::{Method, Response, StatusCode, header::LOCATION};
use serde_json::{Value, json};

const BOB: &str = "bob@acme.test";

async fn bob(app: &App) -> Browser<'_> {
    add_person(app, BOB);
    Browser::of(app, BOB).await
}

async fn code(response: Response) -> (u16, Value) {
    let (status, problem) = problem(response).await;
    (status, problem["code"].clone())
}

#[tokio::test]
async fn a_form_without_scripts_goes_on_to_its_next_page() {
    let app = App::start();
    let mut bob = bob(&app).await;
    let fields = [("name", "Call Acme"), ("next", "/working-on?notice=working_started")];
    let made = bob.post("/fn/working-on/create", &fields).await;
    assert_eq!((made.status(), made.headers()[LOCATION].to_str().unwrap()), (StatusCode::SEE_OTHER, fields[1].1));
    let page = bob.page("/working-on?notice=working_started").await;
    assert!(page.contains("Call Acme") && page.contains("Stop working"), "{page}");
    // Only a page of this server is gone on to.
    for elsewhere in ["https://evil.test", "//evil.test", "/%09/../\\evil.test", ""] {
        let made = bob.post("/fn/working-on/create", &[("name", "x"), ("next", elsewhere)]).await;
        assert_eq!(made.headers()[LOCATION], "/today", "{elsewhere}");
    }
}

#[tokio::test]
async fn a_task_that_a_script_creates_again_with_its_key_is_made_once() {
    let app = App::start();
    let bob = bob(&app).await;
    let create = async |key: &str| -> Value {
        let fields = [("name", "Call Acme"), ("key", key)];
        let sent = bob.call(Method::POST, "/fn/working-on/create").form(&fields).send().await.unwrap();
        assert_eq!(sent.status(), StatusCode::OK);
        sent.json().await.unwrap()
    };
    let (made, again, other) = (create("k1").await, create("k1").await, create("k2").await);
    assert_eq!(made["task_id"], again["task_id"]);
    assert_eq!(made["session_id"], again["session_id"], "its work goes on");
    assert_ne!(made["task_id"], other["task_id"]);
    let listed: Value =
        bob.call(Method::GET, "/fn/working-on/tasks?name_contains=Acme").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2, "{listed}");
}

#[tokio::test]
async fn a_refused_form_shows_its_page_again_with_what_was_typed() {
    let app = App::start();
    let mut bob = bob(&app).await;
    let long = "x".repeat(300);
    let fields = [("name", long.as_str()), ("next", "/working-on?notice=working_started")];
    let refused = bob.post("/fn/working-on/create", &fields).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    assert!(page.contains(&long) && page.contains("aria-invalid"), "{page}");
    assert!(page.contains("Your day") && !page.contains("Pages you open from now on are recorded"), "{page}");
    // A page that does not exist shows the problem itself.
    let lost = bob.post("/fn/working-on/create", &[("name", ""), ("page", "/nowhere")]).await;
    assert_eq!(lost.status(), StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_form_goes_on_to_what_its_function_made() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let failed = async || {
        let id = app.running(Who::Member).await;
        let fail = json!({ "attempt": 1, "error": { "message": "x" } });
        app.post(Who::Worker, &format!("/api/sessions/{id}/fail"), fail).await;
        id
    };
    let location = |sent: &Response| sent.headers()[LOCATION].to_str().unwrap().to_owned();
    let failure = failed().await;
    let retry = async |next: &str| {
        let fields = [("session_id", failure.as_str()), ("next", next), ("page", "/today")];
        ada.ask(Method::POST, "/fn/session/retry", &fields).await
    };
    let first = location(&retry("/sessions/{id}?notice=retried").await);
    let (id, notice) = first.strip_prefix("/sessions/").unwrap().split_once('?').unwrap();
    assert!(notice == "notice=retried" && id != failure, "{first}");
    assert!(ada.page(&first).await.contains("This is a new session like an earlier one."));
    assert_eq!(location(&retry("//{id}").await), "/today");
    // A function that makes nothing has no id to continue to.
    let fields = [("session_id", failure.as_str()), ("next", "/sessions/{id}"), ("page", "/today")];
    let seen = ada.ask(Method::POST, "/fn/session/acknowledge", &fields).await;
    assert_eq!(location(&seen), "/sessions/{id}");
    // A refusal shows the page of the form and why.
    let page = format!("/sessions/{failure}");
    let fields = [("session_id", failure.as_str()), ("reason", "x"), ("next", "/today"), ("page", &page)];
    let refused = ada.ask(Method::POST, "/fn/session/cancel", &fields).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("data-tone=\"bad\"") && refused.contains("Transcript"), "{refused}");
}

#[tokio::test]
async fn fields_with_a_dot_are_members_of_a_map_whatever_their_keys_are() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let keys = ["week", "a.b", "x[y]", "7", "007", "100%", "a b+c&d=e", "%5B", "在庫"];
    let properties: Value = keys.iter().map(|key| (*key, json!({ "type": "string" }))).collect();
    let new = json!({ "name": "Report", "metadata": { "inputSchema": { "properties": properties } } });
    let action = app.post(Who::Operator, "/api/actions", new).await["id"].as_str().unwrap().to_owned();
    let escaped = |key: &str| key.replace('%', "%25").replace('.', "%2E").replace('[', "%5B").replace(']', "%5D");
    let names = keys.map(|key| format!("input.{}", escaped(key)));
    let page = ada.page(&format!("/actions/{action}")).await;
    assert!(page.contains("name=\"input.x%5By%5D\"") && page.contains("name=\"input.a%2Eb\""), "{page}");
    let mut fields: Vec<_> = names.iter().zip(keys).map(|(name, key)| (name.as_str(), key)).collect();
    fields.extend([("action_id", action.as_str()), ("next", "/sessions/{id}")]);
    let sent = ada.ask(Method::POST, "/fn/action/trigger", &fields).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER, "{}", sent.text().await.unwrap());
    let path = format!("/api{}", sent.headers()[LOCATION].to_str().unwrap());
    let session: Value = ada.call(Method::GET, &path).send().await.unwrap().json().await.unwrap();
    let expected: Value = keys.iter().map(|key| (*key, json!(key))).collect();
    assert_eq!(session["input"], expected);
}

#[tokio::test]
async fn the_theme_is_kept_by_the_browser_and_an_unknown_one_is_refused() {
    let app = App::start();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let save = |theme| [("theme", theme), ("next", "/settings?notice=appearance_saved"), ("page", "/settings")];
    let saved = ada.post("/fn/settings/theme", &save("dark")).await;
    assert_eq!(saved.headers()[LOCATION], "/settings?notice=appearance_saved");
    let page = ada.page("/settings?notice=appearance_saved").await;
    assert!(page.contains("data-theme=\"dark\"") && page.contains("Appearance saved."), "{page}");
    let refused = ada.post("/fn/settings/theme", &save("pink")).await;
    assert_eq!((refused.status(), refused.headers().get("set-cookie")), (StatusCode::UNPROCESSABLE_ENTITY, None));
    let page = refused.text().await.unwrap();
    assert!(page.contains("system, light or dark") && page.contains("data-theme=\"dark\""), "{page}");
}

#[tokio::test]
async fn line_ends_of_a_form_reach_the_function_as_those_of_a_script() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let id = app.running(Who::Member).await;
    let fields = [("session_id", id.as_str()), ("reason", "one\r\ntwo"), ("next", "/today")];
    assert_eq!(ada.ask(Method::POST, "/fn/session/cancel", &fields).await.status(), StatusCode::SEE_OTHER);
    let path = format!("/api/sessions/{id}/events");
    let log: Value = ada.call(Method::GET, &path).send().await.unwrap().json().await.unwrap();
    let log = log.to_string();
    assert!(log.contains("one\\ntwo") && !log.contains("\\r"), "{log}");
}

#[tokio::test]
async fn a_task_may_have_a_name_in_any_script() {
    let app = App::start();
    let mut bob = bob(&app).await;
    for name in ["在庫を数える", "Отчёт", "…"] {
        let made = bob.post("/fn/working-on/create", &[("name", name), ("next", "/working-on")]).await;
        assert_eq!(made.headers()[LOCATION], "/working-on", "{name}");
        assert!(bob.page("/working-on").await.contains(name));
    }
    let unnamed = bob.post("/fn/working-on/create", &[("name", " "), ("next", "/working-on")]).await;
    assert_eq!(unnamed.status(), StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_form_of_a_signed_out_person_leads_to_sign_in_and_back_to_its_page() {
    let app = App::start();
    let mut stranger = Browser::stranger(&app);
    let fields = [("name", "x"), ("next", "/working-on?notice=working_started")];
    let sent = stranger.post("/fn/working-on/create", &fields).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    assert_eq!(sent.headers()[LOCATION], "/sign-in?next=%2Fworking-on");
}

#[tokio::test]
async fn a_script_gets_the_problem_with_its_request_id() {
    let app = App::start();
    let bob = bob(&app).await;
    let call = |fields: &[(&str, &str)]| bob.call(Method::POST, "/fn/working-on/start").form(fields);
    let refused = call(&[("task_id", "00000000-0000-7000-8000-000000000000")]).send().await.unwrap();
    let id = refused.headers()["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(refused.headers()["content-type"], "application/problem+json");
    let body: Value = refused.json().await.unwrap();
    assert_eq!((&body["code"], &body["requestId"]), (&json!("not_found"), &json!(id)));
    let unreadable = call(&[("task_id", "x")]).send().await.unwrap();
    assert_eq!(code(unreadable).await, (422, json!("invalid_request")));
    let missing = call(&[("other", "x")]).send().await.unwrap();
    assert_eq!(code(missing).await, (422, json!("invalid_request")));
    let anonymous = app.request(Who::Anonymous, Method::POST, "/fn/working-on/start").form(&[("task_id", "x")]);
    assert_eq!(code(anonymous.send().await.unwrap()).await, (401, json!("unauthenticated")));
}

#[tokio::test]
async fn calls_are_logged_with_their_route_and_code_and_without_what_was_sent() {
    let app = App::start_with("", &[], &[("SHIFTBOOK_LOG", "info,shiftbook::request=debug")]);
    let bob = bob(&app).await;
    let line = async |response: Response| {
        let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        app.until_logged(0, &id).await;
        app.log().lines().find(|line| line.contains(&id)).unwrap().to_owned()
    };
    let create = bob.call(Method::POST, "/fn/working-on/create").form(&[("name", "Call Acme")]);
    let created = line(create.send().await.unwrap()).await;
    assert!(created.contains("/fn/working-on/create") && created.contains("200"), "{created}");
    assert!(!created.contains("Acme"), "{created}");
    let unknown = [("task_id", "00000000-0000-7000-8000-000000000000")];
    let start = bob.call(Method::POST, "/fn/working-on/start").form(&unknown);
    let refused = line(start.send().await.unwrap()).await;
    assert!(refused.contains("/fn/working-on/start") && refused.contains("not_found"), "{refused}");
    assert!(!refused.contains(unknown[0].1), "{refused}");
}

#[tokio::test]
async fn recorded_events_are_checked_as_those_of_the_api() {
    let app = App::start();
    let bob = bob(&app).await;
    let started = bob.call(Method::POST, "/fn/working-on/create");
    let active: Value = started.form(&[("name", "Mail")]).send().await.unwrap().json().await.unwrap();
    let session = active["session_id"].as_str().unwrap().to_owned();
    let record = |append: String| {
        let request = bob.call(Method::POST, "/fn/working-on/record");
        request.json(&json!({ "session_id": session, "append": append })).send()
    };
    let event = json!({
        "id": fresh_uuid(), "type": "human.navigate", "metadata": { "pathname": "/today" }
    });
    let events = |events: Value| json!({ "events": events }).to_string();
    for _ in 0..2 {
        assert_eq!(record(events(json!([event]))).await.unwrap().status(), 200);
    }
    let surrogate = r#"{"events":[{"type":"human.navigate","metadata":{"pathname":"/today","x":"\ud800"}}]}"#;
    for (bad, expected) in [
        (surrogate.to_owned(), 422),
        ("{".to_owned(), 400),
        (events(json!([{ "type": "agent.message" }])), 403),
        (json!({ "events": [event], "attempt": 1 }).to_string(), 403),
        (json!({ "events": [event], "other": 1 }).to_string(), 422),
    ] {
        assert_eq!(record(bad.clone()).await.unwrap().status(), expected, "{bad}");
    }
    let path = format!("/api/sessions/{session}/events");
    let log: Value = bob.call(Method::GET, &path).send().await.unwrap().json().await.unwrap();
    let kinds: Vec<_> = log["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "human.navigate").count(), 1, "{kinds:?}");
}

#[tokio::test]
async fn a_field_of_the_wrong_shape_is_named_with_what_is_expected() {
    let app = App::start();
    let bob = bob(&app).await;
    let id = fresh_uuid();
    let decide = format!("id={id}&decision=approve");
    let many = "decision=approve";
    let trigger = format!("action_id={id}");
    for (function, sent, wrong, field) in [
        ("inbox/decide", "decision=approve", "id[a]=x", "id"),
        ("inbox/decide", "decision=approve", "", "id"),
        ("inbox/decide", &format!("id={id}"), "", "decision"),
        ("inbox/decide", &format!("id={id}"), "decision[a]=approve", "decision"),
        ("inbox/decide", &decide, "note[a]=x", "note"),
        ("inbox/decide", &decide, "note[a][b]=x", "note"),
        ("inbox/decide", &decide, "digest[a]=x", "digest"),
        ("inbox/decide", &decide, "answer[a]=x", "answer"),
        ("inbox/decide", &decide, "answer.name[a]=x", "answer.name"),
        ("inbox/decide", &decide, "answer.name%5Ba%5D=x", "answer.name"),
        ("inbox/decide", &decide, "value.tags[0][a]=x", "value.tags"),
        ("inbox/questions-off", &format!("id={id}"), "answer.name[a]=x", "answer.name"),
        ("inbox/decide-many", many, "items=x", "items"),
        ("inbox/decide-many", many, "items[a][b]=x", "items[a]"),
        ("inbox/decide-many", many, "answer.name[a]=x", "answer.name"),
        ("inbox/decide-many", "", "decision[a]=x", "decision"),
        ("inbox/undo", "", "items=x", "items"),
        ("inbox/snooze", "", "until[a]=x", "until"),
        ("action/trigger", &trigger, "input[a][b]=x", "input[a]"),
        ("action/trigger", &trigger, "input[]=x", "input"),
        ("action/trigger", "", "action_id[a]=x", "action_id"),
    ] {
        let asked = bob.call(Method::POST, &format!("/fn/{function}"));
        let asked = asked.header("content-type", "application/x-www-form-urlencoded");
        let (status, problem) = problem(asked.body(format!("{sent}&{wrong}")).send().await.unwrap()).await;
        assert_eq!(status, 422, "{function} {sent} {wrong}: {problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{function} {sent} {wrong}: {problem}");
        let message = problem["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("expected here") || message.starts_with("missing field"), "{wrong}: {message}");
    }
}
