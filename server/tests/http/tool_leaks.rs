//! Secrets of tools and private values of their inputs are in no file of the server and in nothing that leaves it: the
//! database, a backup, an export for training, logs of sessions, results, lists, pages and the server's own log.

use crate::{
    app::{App, Who},
    browser::Browser,
    tool_service::Service,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Values that must be nowhere, with what they are.
const HIDDEN: [(&str, &str); 3] = [
    ("a secret of a tool", "leak-check-s3cr3t-of-a-tool"),
    ("a header of an MCP server", "leak-check-header-of-a-server"),
    ("a private value", "leak-check-private-value"),
];
/// A value of the same inputs that is not private. Where it is found, the others would be found too.
const PLAIN: &str = "leak-check-plain-city";
/// Settings that permit services on this machine.
const OPEN: &str = "[outbound]\nallow_private = [\"127.0.0.1\"]\n";

async fn put(app: &App, path: &str, body: Value) {
    let answer = app.request(Who::Admin, Method::PUT, path).json(&body).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
}

async fn get(app: &App, who: Who, path: &str) -> String {
    let answer = app.request(who, Method::GET, path).send().await.unwrap();
    let status = answer.status();
    let text = answer.text().await.unwrap();
    assert!(status.is_success(), "{path}: {status} {text}");
    text
}

fn input() -> Value {
    json!({ "city": PLAIN, "note": HIDDEN[2].1 })
}

/// Creates and publishes a tool with a private field.
async fn publish(app: &App, slug: &str, more: Value) {
    let mut tool = json!({
        "slug": slug, "name": slug, "privateFields": ["note"],
        "inputSchema": { "type": "object", "properties": {
            "city": { "type": "string" }, "days": { "type": "integer" }, "note": { "type": "string" } } },
    });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
}

/// Runs tools that get all hidden values: one call succeeds, one fails with a text that repeats the secret, one run
/// waits for its worker, one is a draft, and one input is refused. Returns the ids of the sessions.
async fn use_all(app: &App, service: &Service) -> Vec<String> {
    let call = |path: &str| {
        let headers = json!({ "authorization": "Bearer {secret:API_KEY}" });
        json!({ "kind": "http", "http": { "method": "POST", "url": service.url(path), "headers": headers, "body": "input" } })
    };
    let mut sessions = Vec::new();
    for (slug, path, status) in [("good", "/number", "completed"), ("bad", "/refused", "failed")] {
        publish(app, slug, call(path)).await;
        let secret = json!({ "value": HIDDEN[0].1, "version": 1 });
        put(app, &format!("/api/tools/{slug}/secrets/API_KEY"), secret).await;
        let run = json!({ "input": input(), "waitSeconds": 30 });
        let run = app.post(Who::Member, &format!("/api/tools/{slug}/run"), run).await;
        assert_eq!(run["status"], status, "{run}");
        sessions.push(run["sessionId"].as_str().unwrap().to_owned());
    }
    publish(app, "later", json!({ "kind": "worker" })).await;
    let waiting = app.post(Who::Member, "/api/tools/later/run", json!({ "input": input() })).await;
    sessions.push(waiting["sessionId"].as_str().unwrap().to_owned());
    let draft = app.post(Who::Member, "/api/tools/later/sessions", json!({ "fields": input() })).await;
    let draft = draft["id"].as_str().unwrap().to_owned();
    let change = json!({ "rev": 1, "fields": { "days": 3, "note": HIDDEN[2].1 }, "leaving": true });
    let path = format!("/api/tool-sessions/{draft}/fields");
    let changed = app.request(Who::Member, Method::PATCH, &path).json(&change).send().await.unwrap();
    assert!(changed.status().is_success(), "{}", changed.status());
    sessions.push(draft);
    let wrong = json!({ "input": { "city": PLAIN, "days": "soon", "note": HIDDEN[2].1 } });
    let refused = app.request(Who::Member, Method::POST, "/api/tools/later/run").json(&wrong).send().await.unwrap();
    assert_eq!(refused.status(), 422);
    expect_nothing("a refused input", refused.text().await.unwrap().as_bytes());
    let server = json!({
        "slug": "test", "name": "Test", "transport": { "kind": "http", "url": service.url("/mcp") },
        "secretHeaders": { "authorization": HIDDEN[1].1 },
    });
    app.post(Who::Admin, "/api/mcp-servers", server).await;
    sessions
}

fn is_in(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}

/// Fails if one of the hidden values is there.
fn expect_nothing(place: &str, bytes: &[u8]) {
    for (what, value) in HIDDEN {
        assert!(!is_in(bytes, value), "{what} is in {place}");
    }
}

/// Every file below a folder, except the instance key.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.is_file() && path.file_name().is_none_or(|name| name != "instance.key") {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_export_or_answer_has_a_secret_or_a_private_value() {
    let (mut app, service) = (App::start_with(OPEN, &[], &[]), Service::start().await);
    let sessions = use_all(&app, &service).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let saved = [("do", "save"), ("_name", "Mine"), ("input.city", PLAIN), ("input.note", HIDDEN[2].1)];
    assert_eq!(ada.post("/tools/later/inputs", &saved).await.status(), 303);
    let mut answers = vec![
        ("/api/tool-sessions".to_owned(), get(&app, Who::Operator, "/api/tool-sessions").await),
        ("/api/audit".to_owned(), get(&app, Who::Admin, "/api/audit").await),
        ("/api/tools".to_owned(), get(&app, Who::Admin, "/api/tools").await),
        ("/api/mcp-servers".to_owned(), get(&app, Who::Admin, "/api/mcp-servers").await),
        ("/tools/later".to_owned(), ada.page("/tools/later?saved=Mine").await),
    ];
    for id in &sessions {
        for path in [format!("/api/sessions/{id}/events.jsonl"), format!("/api/tool-sessions/{id}")] {
            answers.push((path.clone(), get(&app, Who::Operator, &path).await));
        }
        let page = format!("/sessions/{id}");
        answers.push((page.clone(), ada.page(&page).await));
    }
    for (path, text) in &answers {
        expect_nothing(path, text.as_bytes());
    }
    assert!(answers.iter().any(|(_, text)| text.contains(PLAIN)), "nothing shows what is not private");

    app.terminate();
    app.wait();
    let out = tempfile::tempdir().unwrap();
    let copied = app.cli().arg("backup").arg(out.path().join("copy")).output().unwrap();
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    let mut export = app.cli();
    export.args(["export", "training", "--format", "sft", "--min-feedback", "none", "--tenant", "acme", "--out"]);
    fs::create_dir(out.path().join("export")).unwrap();
    let exported = export.arg(out.path().join("export")).output().unwrap();
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    let mut found = Vec::new();
    files(out.path(), &mut found);
    files(app.data_dir(), &mut found);
    for (path, bytes) in &found {
        expect_nothing(path, bytes);
    }
    let has_plain = |name: &str| found.iter().any(|(path, bytes)| path.ends_with(name) && is_in(bytes, PLAIN));
    assert!(has_plain("copy") && has_plain("shiftbook.sqlite3"), "the values of these runs are not in the files");
    expect_nothing("the log of the server", app.log().as_bytes());
}
