//! MCP servers and the runs of their tools, with the real binary: an MCP server on this machine over HTTP, and a
//! program.

use crate::{
    app::{App, Who},
    browser::Browser,
    mcp_service::McpService,
};
use reqwest::Method;
use serde_json::{Value, json};

const SECRET: &str = "Bearer hunter2-s3cr3t-value";

/// Settings that permit services on this machine, and programs for two workspaces.
fn settings() -> String {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/mcp_program.py");
    let of = |name: &str, workspace: &str| {
        format!("[mcp.{name}]\nworkspace = \"{workspace}\"\ncommand = [\"python3\", \"{program}\"]\n")
    };
    format!("[outbound]\nallow_private = [\"127.0.0.1\"]\n{}{}", of("local", "acme"), of("theirs", "other"))
}

async fn ask(app: &App, who: Who, method: Method, path: &str, body: Value) -> (u16, Value) {
    let response = app.request(who, method, path).json(&body).send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// Adds an MCP server over HTTP.
async fn add(app: &App, slug: &str, url: String) {
    let server = json!({ "name": "Test", "slug": slug, "transport": { "kind": "http", "url": url } });
    app.post(Who::Operator, "/api/mcp-servers", server).await;
}

async fn refresh(app: &App, slug: &str) -> (u16, Value) {
    ask(app, Who::Operator, Method::POST, &format!("/api/mcp-servers/{slug}/refresh"), json!({})).await
}

/// Imports tools and publishes them with these parts changed.
async fn import(app: &App, server: &str, names: &[&str], more: Value) {
    let path = format!("/api/mcp-servers/{server}/import");
    let imported = app.post(Who::Operator, &path, json!({ "tools": names })).await;
    for tool in imported["tools"].as_array().unwrap() {
        let path = format!("/api/tools/{}", tool["slug"].as_str().unwrap());
        let mut change = more.clone();
        change["revision"] = tool["revision"].clone();
        let (status, changed) = ask(app, Who::Operator, Method::PATCH, &path, change).await;
        assert_eq!(status, 200, "{changed}");
        app.post(Who::Operator, &format!("{path}/publish"), json!({})).await;
    }
}

async fn run(app: &App, slug: &str, input: Value) -> Value {
    let body = json!({ "input": input, "waitSeconds": 30 });
    app.post(Who::Member, &format!("/api/tools/{slug}/run"), body).await
}

fn code(run: &Value) -> &str {
    run["error"]["code"].as_str().unwrap_or_default()
}

fn names(listed: &Value) -> Vec<(&str, &str)> {
    let tools = listed["tools"].as_array().unwrap();
    tools.iter().map(|tool| (tool["name"].as_str().unwrap(), tool["change"].as_str().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_an_mcp_server_are_listed_imported_and_run() {
    let app = App::start_with(&settings(), &[], &[]);
    let service = McpService::start().await;
    add(&app, "test", service.url("/mcp")).await;
    let secret = json!({ "revision": 1, "secretHeaders": { "authorization": SECRET } });
    let path = "/api/mcp-servers/test";
    let (status, _) = ask(&app, Who::Operator, Method::PATCH, path, secret.clone()).await;
    assert_eq!(status, 403, "secret headers are for admins");
    let (status, changed) = ask(&app, Who::Admin, Method::PATCH, path, secret).await;
    assert_eq!((status, &changed["secretHeaders"]), (200, &json!(["authorization"])));
    let elsewhere = json!({ "revision": 2, "transport": { "kind": "http", "url": "https://evil.example.org" } });
    let (status, _) = ask(&app, Who::Operator, Method::PATCH, path, elsewhere).await;
    assert_eq!(status, 403, "an operator cannot send the secret elsewhere");
    assert_eq!(ask(&app, Who::Member, Method::GET, path, json!({})).await.0, 403);
    assert_eq!(ask(&app, Who::Stranger, Method::GET, path, json!({})).await.0, 404);

    let (status, listed) = refresh(&app, "test").await;
    assert_eq!(status, 200, "{listed}");
    assert_eq!(names(&listed)[..2], [("echo", "new"), ("slow", "new")]);
    assert_eq!(listed["tools"][0]["title"], "Echo");
    assert!(listed["tools"].as_array().unwrap().len() == 10, "both pages: {listed}");
    import(&app, "test", &["echo", "events", "fails", "steps"], json!({ "timeLimitSeconds": 20 })).await;

    let done = run(&app, "test-echo", json!({ "text": "a" })).await;
    assert_eq!(done["result"], json!({ "arguments": { "text": "a" }, "key": "[secret]" }), "{done}");
    let done = run(&app, "test-events", json!({})).await;
    assert_eq!(done["result"], json!({ "content": [{ "type": "text", "text": "in a stream" }] }), "{done}");
    let failed = run(&app, "test-fails", json!({})).await;
    assert_eq!(code(&failed), "tool_error");
    assert!(failed["error"]["message"].as_str().unwrap().contains("no file <b>here</b>"), "{failed}");
    let (status, refused) =
        ask(&app, Who::Member, Method::POST, "/api/tools/test-echo/run", json!({ "input": { "text": 1 } })).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("input/text")));

    followers_see_how_far_a_call_is(&app, &service).await;

    // The server lists other schemas; the page of the tool shows them, and an import takes them over.
    let moved = json!({ "revision": 2, "transport": { "kind": "http", "url": service.url("/changed") } });
    assert_eq!(ask(&app, Who::Admin, Method::PATCH, path, moved).await.0, 200);
    let (_, listed) = refresh(&app, "test").await;
    assert_eq!(names(&listed), [("echo", "changed"), ("slow", "same")]);
    assert!(listed["gone"].as_array().unwrap().contains(&json!("events")), "{listed}");
    let browser = Browser::of(&app, "ada@acme.test").await;
    let page = browser.page("/tools/test-echo").await;
    assert!(page.contains("Changed by the server") && page.contains("loud"), "{page}");
    import(&app, "test", &["echo"], json!({})).await;
    let page = browser.page("/tools/test-echo").await;
    assert!(!page.contains("Changed by the server"), "{page}");
    let page = browser.page("/tools/test-events").await;
    assert!(page.contains("any more"), "{page}");
    let page = browser.page("/mcp-servers/test").await;
    assert!(page.contains("tools[echo]") && !page.contains("hunter2"), "{page}");
}

/// Follows a session before its run begins, because progress is sent to those who follow it and is not stored.
async fn followers_see_how_far_a_call_is(app: &App, service: &McpService) {
    let draft = app.post(Who::Member, "/api/tools/test-steps/sessions", json!({})).await;
    let session = draft["id"].as_str().unwrap();
    let path = format!("/api/sessions/{session}/events/stream");
    let mut stream = app.request(Who::Member, Method::GET, &path).send().await.unwrap();
    app.post(Who::Member, &format!("/api/tool-sessions/{session}/run"), json!({})).await;
    let mut received = String::new();
    while !received.split_once("event: progress").is_some_and(|(_, rest)| rest.contains("\n\n")) {
        let chunk = stream.chunk().await.unwrap().unwrap_or_else(|| panic!("it ended: {received}"));
        received.push_str(&String::from_utf8_lossy(&chunk));
    }
    let progress = "event: progress\ndata: {\"attempt\":1,\"done\":25,\"total\":100,";
    assert!(received.contains(progress) && received.contains("a quarter with [secret]"), "{received}");
    app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), json!({})).await;
    service.until("notifications/cancelled", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_mcp_server_harms_no_run_and_no_list() {
    let app = App::start_with(&settings(), &[], &[]);
    let service = McpService::start().await;
    for (slug, wrong) in [
        ("redirect", "answered 302"),
        ("html", "the type `text/html`"),
        ("wrong", "no list of tools"),
        ("large", "larger than allowed"),
    ] {
        add(&app, slug, service.url(&format!("/{slug}"))).await;
        let (status, refused) = refresh(&app, slug).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("transport")), "{slug}: {refused}");
        let message = refused["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains(wrong) && !message.contains('\u{1b}'), "{slug}: {message}");
    }
    let secret = json!({
        "name": "Locked", "slug": "locked", "transport": { "kind": "http", "url": service.url("/unauthorized") },
        "secretHeaders": { "authorization": SECRET },
    });
    app.post(Who::Admin, "/api/mcp-servers", secret).await;
    let (_, refused) = refresh(&app, "locked").await;
    let message = refused["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("401 wrong key [secret]"), "{message}");

    add(&app, "hostile", service.url("/hostile")).await;
    let (_, listed) = refresh(&app, "hostile").await;
    assert_eq!(names(&listed), [("fine", "new")]);
    assert_eq!(listed["refused"].as_array().unwrap().len(), 3, "{listed}");
    assert!(!listed.to_string().contains("\\u001b"), "{listed}");
    add(&app, "pages", service.url("/pages")).await;
    let (_, listed) = refresh(&app, "pages").await;
    assert_eq!((names(&listed).len(), &listed["cut"]), (20, &json!(true)));

    add(&app, "test", service.url("/mcp")).await;
    refresh(&app, "test").await;
    let bad = ["endless", "huge", "wrong", "ends", "refuses"];
    import(&app, "test", &bad, json!({ "timeLimitSeconds": 20 })).await;
    for (tool, expected) in [("endless", "answer_too_large"), ("huge", "answer_too_large"), ("refuses", "tool_error")] {
        let failed = run(&app, &format!("test-{tool}"), json!({})).await;
        assert_eq!(code(&failed), expected, "{tool}: {failed}");
        assert!(!failed.to_string().contains("\\u001b"), "{failed}");
    }
    let failed = run(&app, "test-ends", json!({})).await;
    assert_eq!(code(&failed), "may_have_run", "{failed}");
    let failed = run(&app, "test-wrong", json!({})).await;
    assert!(["answer_invalid", "may_have_run"].contains(&code(&failed)), "{failed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_mcp_server_hears_that_a_call_was_cancelled_or_took_too_long() {
    let app = App::start_with(&settings(), &[], &[]);
    let service = McpService::start().await;
    add(&app, "test", service.url("/mcp")).await;
    refresh(&app, "test").await;
    import(&app, "test", &["slow"], json!({ "timeLimitSeconds": 3 })).await;
    let failed = run(&app, "test-slow", json!({})).await;
    assert_eq!(code(&failed), "time_limit", "{failed}");
    service.until("notifications/cancelled", 1).await;
    import(&app, "test", &["slow"], json!({ "timeLimitSeconds": 600 })).await;
    let begun = app.post(Who::Member, "/api/tools/test-slow/run", json!({ "input": {} })).await;
    let session = begun["sessionId"].as_str().unwrap();
    service.until("tools/call", 2).await;
    app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), json!({})).await;
    service.until("notifications/cancelled", 2).await;
    // One session for the list, and one for each run.
    service.until("DELETE", 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_is_an_mcp_server_only_where_the_operator_allows_it() {
    let app = App::start_with(&settings(), &[], &[("SHIFTBOOK_TOKEN", "hunter2")]);
    for program in ["local", "theirs", "sh"] {
        let transport = json!({ "kind": "stdio", "program": program });
        let server = json!({ "name": "Program", "slug": program, "transport": transport });
        app.post(Who::Operator, "/api/mcp-servers", server).await;
    }
    for program in ["theirs", "sh"] {
        let (status, refused) = refresh(&app, program).await;
        let message = refused["errors"][0]["message"].as_str().unwrap();
        assert!(status == 422 && message.contains("not among the programs"), "{message}");
    }
    let (status, listed) = refresh(&app, "local").await;
    assert_eq!((status, names(&listed)), (200, vec![("add", "new"), ("variable", "new"), ("crash", "new")]));
    import(&app, "local", &["add", "variable", "crash"], json!({ "timeLimitSeconds": 20 })).await;
    let done = run(&app, "local-add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(done["result"], json!({ "sum": 5 }), "{done}");
    let done = run(&app, "local-variable", json!({})).await;
    assert_eq!(done["result"], json!({ "content": [{ "type": "text", "text": "None" }] }), "{done}");
    let failed = run(&app, "local-crash", json!({})).await;
    assert_eq!(code(&failed), "may_have_run", "{failed}");
}
