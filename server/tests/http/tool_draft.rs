//! Drafts of runs of tools, over the API and from the form of a page.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const PRIVATE: &str = "hunter2-private-value";

/// Creates and publishes a tool that workers run.
async fn publish(app: &App, slug: &str) {
    let tool = json!({
        "slug": slug, "name": "Echo", "kind": "worker", "privateFields": ["key"],
        "inputSchema": { "type": "object", "properties": {
            "city": { "type": "string" }, "days": { "type": "integer" }, "key": { "type": "string" } } },
    });
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
}

async fn sent(app: &App, method: Method, path: &str, body: Value) -> (u16, Value) {
    let answer = app.request(Who::Member, method, path).json(&body).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap())
}

#[tokio::test]
async fn a_draft_is_opened_changed_read_and_run() {
    let app = App::start();
    publish(&app, "echo").await;
    let new = json!({ "fields": { "city": "O" }, "idempotencyKey": "k" });
    let (status, draft) = sent(&app, Method::POST, "/api/tools/echo/sessions", new.clone()).await;
    assert_eq!(
        (status, &draft["status"], &draft["sessionStatus"]),
        (201, &json!("active"), &json!("draft")),
        "{draft}"
    );
    assert_eq!((&draft["draft"]["rev"], &draft["draft"]["fields"]), (&json!(1), &json!({ "city": "O" })));
    let (_, repeat) = sent(&app, Method::POST, "/api/tools/echo/sessions", new).await;
    assert_eq!(repeat["id"], draft["id"]);
    let path = format!("/api/tool-sessions/{}", draft["id"].as_str().unwrap());
    let change = json!({ "rev": 1, "fields": { "city": "Oslo", "days": 3, "key": PRIVATE }, "leaving": true });
    let (status, changed) = sent(&app, Method::PATCH, &format!("{path}/fields"), change).await;
    assert_eq!((status, &changed["draft"]["rev"]), (200, &json!(2)), "{changed}");
    let stale = json!({ "rev": 1, "fields": { "city": "Rome" } });
    let (status, refused) = sent(&app, Method::PATCH, &format!("{path}/fields"), stale).await;
    assert_eq!((status, &refused["code"]), (409, &json!("stale_version")), "{refused}");
    for (body, field) in [
        (json!({ "rev": 2, "fields": [] }), "fields"),
        (json!({ "rev": 2, "field": {} }), "field"),
        (json!({ "rev": 2, "fields": { "": 1 } }), "fields"),
    ] {
        let answer = app.request(Who::Member, Method::PATCH, &format!("{path}/fields")).json(&body);
        let (status, refused) = problem(answer.send().await.unwrap()).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(field)), "{refused}");
    }
    let read = app.request(Who::Operator, Method::GET, "/api/tool-sessions?tool=echo").send().await.unwrap();
    let read: Value = read.json().await.unwrap();
    let fields = json!({ "city": "Oslo", "days": 3 });
    assert_eq!((&read["items"][0]["id"], &read["items"][0]["draft"]["fields"]), (&draft["id"], &fields), "{read}");
    let run = json!({ "rev": 2, "fields": { "key": PRIVATE } });
    let (status, run) = sent(&app, Method::POST, &format!("{path}/run"), run).await;
    assert_eq!((status, &run["sessionId"], &run["status"]), (202, &draft["id"], &json!("pending")), "{run}");
    let log = app.request(Who::Member, Method::GET, &format!("/api/sessions/{}/events", draft["id"].as_str().unwrap()));
    let log: Value = log.send().await.unwrap().json().await.unwrap();
    let of = |event: &Value| (event["type"] == "tool.field_changed").then(|| event["metadata"].clone());
    let changes: Vec<Value> = log["events"].as_array().unwrap().iter().filter_map(of).collect();
    let expected = [
        json!({ "field": "city", "new": "O" }),
        json!({ "field": "city", "old": "O", "new": "Oslo" }),
        json!({ "field": "days", "new": 3 }),
        json!({ "field": "key" }),
    ];
    assert_eq!(changes, expected);
    assert!(!log.to_string().contains(PRIVATE) && !app.log().contains(PRIVATE));
    let (status, ended) = sent(&app, Method::PATCH, &format!("{path}/fields"), json!({ "rev": 2, "fields": {} })).await;
    assert_eq!((status, &ended["code"]), (409, &json!("wrong_status")), "{ended}");
    let ended: Value = app.request(Who::Member, Method::GET, &path).send().await.unwrap().json().await.unwrap();
    assert_eq!((&ended["draft"], &ended["input"]), (&Value::Null, &fields));
}

#[tokio::test]
async fn the_form_of_a_page_is_kept_continued_and_run_without_scripts() {
    let app = App::start();
    publish(&app, "echo").await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/tools/echo").await;
    assert!(page.contains("data-draft=\"/tools/echo/draft") && !page.contains("Continue your draft"), "{page}");
    let typed =
        [("_id", "form-1"), ("_rev", "0"), ("input.city", "Oslo"), ("input.days", "soon"), ("input.key", PRIVATE)];
    let kept = ada.post("/tools/echo/draft", &typed).await;
    assert_eq!(kept.status(), StatusCode::SEE_OTHER);
    let address = kept.headers()["location"].to_str().unwrap().to_owned();
    let id = address.strip_prefix("/tools/echo?draft=").unwrap().strip_suffix("#run").unwrap().to_owned();
    let page = ada.page("/tools/echo").await;
    assert!(page.contains("Continue your draft") && page.contains(&format!("?draft={id}#run")), "{page}");
    let page = ada.page(&format!("/tools/echo?draft={id}")).await;
    assert!(page.contains("value=\"Oslo\"") && page.contains("Discard draft") && !page.contains(PRIVATE), "{page}");
    assert!(page.contains(&format!("name=\"_id\" value=\"{id}\"")), "{page}");
    let stale = [("_id", id.as_str()), ("_rev", "0"), ("input.city", "Rome")];
    let refused = ada.post("/tools/echo/draft", &stale).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert!(refused.text().await.unwrap().contains("value=\"Rome\""));
    let run = [("_id", id.as_str()), ("_rev", "1"), ("input.city", "Oslo"), ("input.days", "2")];
    let begun = ada.post("/tools/echo/run", &run).await;
    assert_eq!(begun.headers()["location"], format!("/sessions/{id}"));
    let twice = ada.post("/tools/echo/run", &run).await;
    assert_eq!(twice.headers()["location"], format!("/sessions/{id}"), "a form that was sent twice ran twice");
    let kept = ada.post("/tools/echo/draft", &[("_id", "form-2"), ("_rev", "0"), ("input.city", "Rome")]).await;
    assert_eq!(kept.status(), StatusCode::SEE_OTHER);
    ada.post("/tools/echo/draft", &[("_id", "form-2"), ("_do", "discard")]).await;
    assert!(!ada.page("/tools/echo").await.contains("Continue your draft"));
}

#[tokio::test]
async fn the_form_begins_with_a_saved_input_or_the_address() {
    let app = App::start();
    publish(&app, "echo").await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/tools/echo?input.city=Oslo&input.days=many&input.key=hunter2&input.other=1").await;
    assert!(page.contains("value=\"Oslo\"") && !page.contains("value=\"hunter2\""), "{page}");
    for note in ["“days” in the address is ignored", "the field is private", "“other”, which is no field"] {
        assert!(page.contains(note), "{note}: {page}");
    }
    let typed = [("_name", "Home & away"), ("input.city", "Bergen"), ("input.key", PRIVATE)];
    let saved = ada.post("/tools/echo/inputs", &typed).await;
    let address = saved.headers()["location"].to_str().unwrap().strip_suffix("#run").unwrap().to_owned();
    let page = ada.page(&address).await;
    assert!(page.contains("value=\"Bergen\"") && page.contains("Home &amp; away") && !page.contains(PRIVATE), "{page}");
    let unnamed = ada.post("/tools/echo/inputs", &[("_name", ""), ("input.city", "Bergen")]).await;
    assert_eq!(unnamed.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(unnamed.text().await.unwrap().contains("id=\"run-_name-error\""));
    ada.post("/tools/echo/inputs", &[("_name", "Home & away"), ("do", "delete")]).await;
    assert!(!ada.page("/tools/echo").await.contains("Home &amp; away"));
    let gone = app.request(Who::Member, Method::DELETE, "/api/tools/echo/inputs/none").send().await.unwrap();
    assert!(matches!(gone.status().as_u16(), 403 | 404), "{}", gone.status());
}
