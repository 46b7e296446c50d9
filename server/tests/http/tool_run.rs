//! Runs of tools with the real binary: calls of a service on this machine, commands of workers, the command line and
//! the form of a page.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
    tool_service::Service,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::process::{Output, Stdio};

const SECRET: &str = "hunter2-s3cr3t-value";
const PRIVATE: &str = "hunter2-private-value";
/// Settings that permit services on this machine.
const OPEN: &str = "[outbound]\nallow_private = [\"127.0.0.1\"]\n";

fn started() -> App {
    App::start_with(OPEN, &[], &[])
}

/// Creates and publishes a tool with this call.
async fn publish(app: &App, slug: &str, more: Value) {
    let mut tool = json!({
        "slug": slug, "name": "Call", "kind": "http",
        "inputSchema": { "type": "object", "properties": {
            "city": { "type": "string" }, "days": { "type": "integer" }, "note": { "type": "string" } } },
    });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
}

fn get(url: String) -> Value {
    json!({ "http": { "method": "GET", "url": url } })
}

fn with(mut definition: Value, more: Value) -> Value {
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    definition
}

async fn set_secret(app: &App, slug: &str) {
    let path = format!("/api/tools/{slug}/secrets/API_KEY");
    let body = json!({ "value": SECRET, "version": 1 });
    let set = app.request(Who::Admin, Method::PUT, &path).json(&body).send().await.unwrap();
    assert_eq!(set.status(), StatusCode::OK);
}

/// Runs a tool and waits for its end.
async fn run(app: &App, slug: &str, input: Value) -> Value {
    run_with(app, slug, json!({ "input": input, "waitSeconds": 30 })).await
}

async fn run_with(app: &App, slug: &str, body: Value) -> Value {
    app.post(Who::Member, &format!("/api/tools/{slug}/run"), body).await
}

async fn read(app: &App, path: &str) -> Value {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

async fn events(app: &App, run: &Value) -> Vec<Value> {
    let log = read(app, &format!("/api/sessions/{}/events?limit=1000", run["sessionId"].as_str().unwrap())).await;
    log["events"].as_array().unwrap().clone()
}

/// The kinds of the events about calls, with the error code of each.
async fn calls(app: &App, run: &Value) -> Vec<(String, Option<String>)> {
    let of = |event: Value| {
        let kind = event["type"].as_str().unwrap().strip_prefix("tool.invocation_")?.to_owned();
        Some((kind, event["metadata"]["code"].as_str().map(str::to_owned)))
    };
    events(app, run).await.into_iter().filter_map(of).collect()
}

fn ended(run: &Value) -> (&str, &str) {
    (run["status"].as_str().unwrap(), run["error"]["code"].as_str().unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_made_as_it_is_described_and_its_answer_is_the_result() {
    let (app, service) = (started(), Service::start().await);
    let call = json!({ "http": {
        "method": "POST", "url": service.url("/cities/{city}?days={days}&note={note}"),
        "headers": { "authorization": "Bearer {secret:API_KEY}", "x-note": "{note}" },
        "body": { "template": { "of": "{/city}", "for": ["{/days}"] } },
    } });
    publish(&app, "weather", call).await;
    set_secret(&app, "weather").await;
    let run = run(&app, "weather", json!({ "city": "../Oslo & more", "days": 3 })).await;
    assert_eq!(ended(&run), ("completed", ""), "{run}");
    assert_eq!((&run["slug"], &run["version"], &run["result"]["status"]), (&json!("weather"), &json!(1), &json!(200)));
    let echoed = &run["result"]["body"];
    assert_eq!((&echoed["method"], &echoed["uri"]), (&json!("POST"), &json!("/cities/..%2FOslo%20%26%20more?days=3")));
    assert_eq!((&echoed["contentType"], &echoed["note"]), (&json!("application/json"), &Value::Null));
    let body: Value = serde_json::from_str(echoed["body"].as_str().unwrap()).unwrap();
    assert_eq!(body, json!({ "of": "../Oslo & more", "for": [3] }));
    // The service sends the secret back. It is in no answer and in no event.
    assert_eq!(echoed["authorization"], "Bearer [secret]");
    let log = json!(events(&app, &run).await).to_string();
    assert!(!log.contains(SECRET) && !app.log().contains(SECRET), "{log}");
    let calls = calls(&app, &run).await;
    assert_eq!(calls, [("started".to_owned(), None), ("completed".to_owned(), None)]);
    assert_eq!(service.seen().calls, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_any_kind_is_recorded_as_data() {
    let (app, service) = (started(), Service::start().await);
    for (path, body) in [
        ("/html", json!("<script>alert(1)</script>\u{1b}[31mred")),
        ("/no-json", json!("{\"a\":")),
        ("/number", json!(7)),
    ] {
        let slug = path.trim_start_matches('/');
        publish(&app, slug, get(service.url(path))).await;
        let run = run(&app, slug, json!({})).await;
        assert_eq!(run["result"], json!({ "status": 200, "body": body }), "{run}");
        let page = Browser::of(&app, "ada@acme.test")
            .await
            .page(&format!("/sessions/{}", run["sessionId"].as_str().unwrap()))
            .await;
        assert!(!page.contains("<script>alert"), "{path}");
        let tool = Browser::of(&app, "ada@acme.test").await.page(&format!("/tools/{slug}")).await;
        assert!(!tool.contains("<script>alert") && tool.contains("the newest run that has ended"), "{path}: {tool}");
        assert_eq!(tool.contains("class=\"result-facts\""), path != "/html", "{path}: {tool}");
    }
    let schema = json!({ "outputSchema": { "properties": { "body": { "type": "string" } } } });
    publish(&app, "typed", with(get(service.url("/number")), schema)).await;
    let run = run(&app, "typed", json!({})).await;
    assert_eq!(ended(&run), ("failed", "output_invalid"), "{run}");
    assert!(run["error"]["message"].as_str().unwrap().contains("result/body"), "{run}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_service_fails_its_run_and_nothing_else() {
    let (app, service) = (started(), Service::start().await);
    let headers = json!({ "authorization": "Bearer {secret:API_KEY}" });
    for (path, code, part) in [
        ("/never", "time_limit", "no complete answer within 1 s. The tool may have run"),
        ("/endless", "answer_too_large", "The tool may have run"),
        ("/huge", "answer_too_large", "The tool may have run"),
        ("/redirect", "http_status", "the service answered 302"),
        ("/refused", "http_status", "the service answered 403 no: Bearer [secret]"),
    ] {
        let slug = path.trim_start_matches('/');
        let call = json!({
            "http": { "method": "GET", "url": service.url(path), "headers": headers }, "timeLimitSeconds": 1,
        });
        let call = if path == "/never" { call } else { with(call, json!({ "timeLimitSeconds": 60 })) };
        publish(&app, slug, call).await;
        set_secret(&app, slug).await;
        let run = run(&app, slug, json!({})).await;
        assert_eq!(ended(&run), ("failed", code), "{run}");
        assert!(run["error"]["message"].as_str().unwrap().contains(part), "{run}");
        assert_eq!(calls(&app, &run).await.last().unwrap(), &("failed".to_owned(), Some(code.to_owned())));
        assert!(!json!(events(&app, &run).await).to_string().contains(SECRET));
    }
    assert!(!service.paths().contains(&"/ok".to_owned()), "a redirect was followed");
    assert!(app.resident_kib() < 600 * 1024, "{} KiB", app.resident_kib());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_leads_to_no_address_inside() {
    let (app, service) = (App::start(), Service::start().await);
    publish(&app, "inside", with(get(service.url("/ok")), json!({ "repeatable": true, "retries": 3 }))).await;
    let run = run(&app, "inside", json!({})).await;
    assert_eq!(ended(&run), ("failed", "call_refused"), "{run}");
    assert_eq!((calls(&app, &run).await.len(), service.seen().calls), (2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_without_its_secret_is_not_made() {
    let (app, service) = (started(), Service::start().await);
    let headers = json!({ "authorization": "{secret:API_KEY}" });
    let call = json!({ "http": { "method": "GET", "url": service.url("/ok"), "headers": headers } });
    publish(&app, "keyed", call).await;
    let run = run(&app, "keyed", json!({})).await;
    assert_eq!(ended(&run), ("failed", "call_invalid"), "{run}");
    assert!(run["error"]["message"].as_str().unwrap().contains("API_KEY"), "{run}");
    assert_eq!((calls(&app, &run).await.len(), service.seen().calls), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_tool_that_may_be_repeated_is_tried_again() {
    let (app, service) = (started(), Service::start().await);
    publish(&app, "once", with(get(service.url("/flaky")), json!({ "retries": 3 }))).await;
    let once = run(&app, "once", json!({})).await;
    assert_eq!((ended(&once), service.seen().calls), (("failed", "http_status"), 1), "{once}");
    let again = json!({ "retries": 3, "repeatable": true });
    publish(&app, "again", with(get(service.url("/flaky")), again)).await;
    let again = run(&app, "again", json!({})).await;
    assert_eq!((ended(&again), service.seen().calls), (("completed", ""), 3), "{again}");
    let calls = calls(&app, &again).await.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    assert_eq!(calls, ["started", "failed", "started", "completed"]);
    let few = json!({ "retries": 1, "repeatable": true, "timeLimitSeconds": 1 });
    publish(&app, "few", with(get(service.url("/never")), few)).await;
    let few = run(&app, "few", json!({})).await;
    assert_eq!((ended(&few), service.seen().calls), (("failed", "time_limit"), 5), "{few}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_run_breaks_off_its_call() {
    let (app, service) = (started(), Service::start().await);
    publish(&app, "never", with(get(service.url("/never")), json!({ "timeLimitSeconds": 600 }))).await;
    let response =
        app.request(Who::Member, Method::POST, "/api/tools/never/run").json(&json!({})).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    let run: Value = response.json().await.unwrap();
    service.until(|seen| seen.calls == 1).await;
    let path = format!("/api/sessions/{}/cancel", run["sessionId"].as_str().unwrap());
    app.post(Who::Member, &path, json!({})).await;
    service.until(|seen| seen.broken_off == 1).await;
    let session = read(&app, &format!("/api/sessions/{}", run["sessionId"].as_str().unwrap())).await;
    assert_eq!((&session["status"], &session["endReason"]), (&json!("abandoned"), &json!("cancelled")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_during_which_the_server_was_killed_is_repeated_only_if_it_may_be() {
    for (repeatable, code) in [(false, "may_have_run"), (true, "time_limit")] {
        let (mut app, service) = (started(), Service::start().await);
        let more = json!({ "repeatable": repeatable, "timeLimitSeconds": if repeatable { 2 } else { 600 } });
        publish(&app, "never", with(get(service.url("/never")), more)).await;
        run_with(&app, "never", json!({ "idempotencyKey": "k" })).await;
        service.until(|seen| seen.calls == 1).await;
        app.kill();
        app.serve_again();
        // The lease of the killed server has its whole length again, which is 30 s.
        let wait = json!({ "idempotencyKey": "k", "waitSeconds": 30 });
        let mut run = run_with(&app, "never", wait.clone()).await;
        while run["status"] != "failed" {
            run = run_with(&app, "never", wait.clone()).await;
        }
        assert_eq!(ended(&run), ("failed", code), "{run}");
        assert!(run["error"]["message"].as_str().unwrap().contains("may have run") != repeatable, "{run}");
        assert_eq!(service.seen().calls, if repeatable { 2 } else { 1 });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_says_of_a_call_that_it_may_have_run() {
    let (mut app, service) = (started(), Service::start().await);
    publish(&app, "never", with(get(service.url("/never")), json!({ "timeLimitSeconds": 600 }))).await;
    let begun = run_with(&app, "never", json!({})).await;
    service.until(|seen| seen.calls == 1).await;
    app.terminate();
    assert_eq!(app.wait(), Some(0));
    app.serve_again();
    let session = read(&app, &format!("/api/sessions/{}", begun["sessionId"].as_str().unwrap())).await;
    assert_eq!((&session["status"], &session["error"]["code"]), (&json!("failed"), &json!("may_have_run")));
    assert_eq!(service.seen(), crate::tool_service::Seen { calls: 1, broken_off: 1 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_waits_for_a_person_who_sees_no_private_value() {
    let (app, service) = (started(), Service::start().await);
    let schema = json!({ "type": "object", "properties": {
        "city": { "type": "string", "maxLength": 10 }, "note": { "type": "string" } } });
    let more = json!({ "requiresConfirmation": true, "privateFields": ["note"], "inputSchema": schema });
    publish(&app, "asks", with(get(service.url("/{city}?note={note}")), more)).await;
    let cookie = app.cookie().await;
    let window = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert!(window.send().await.unwrap().status().is_success());
    let decide = async |body: Value| {
        let open = read(&app, "/api/approvals").await;
        let item = open["items"][0].clone();
        assert!(!item.to_string().contains(PRIVATE), "{item}");
        assert_eq!(item["title"], "Call", "the name of the tool, whose slug is asks");
        let path = format!("{}/api/approvals/{}/decision", app.url, item["id"].as_str().unwrap());
        let request = app.http.post(path).header("cookie", &cookie).header("sec-fetch-site", "same-origin");
        let response = request.json(&body).send().await.unwrap();
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    };
    for (decision, status, code, uri) in [
        (json!({ "decision": "approve" }), "completed", "", Some("/Oslo?note=hunter2-private-value")),
        (
            json!({ "decision": "edit", "value": { "city": "Bergen" } }),
            "completed",
            "",
            Some("/Bergen?note=hunter2-private-value"),
        ),
        (json!({ "decision": "edit", "value": { "city": "Longyearbyen" } }), "failed", "input_invalid", None),
        (json!({ "decision": "deny", "note": "Not today." }), "failed", "denied", None),
    ] {
        let begun =
            run_with(&app, "asks", json!({ "input": { "city": "Oslo", "note": PRIVATE }, "waitSeconds": 1 })).await;
        assert_eq!(begun["status"], "awaiting_tool", "{begun}");
        let before = service.seen().calls;
        decide(decision.clone()).await;
        let path = format!("/api/sessions/{}", begun["sessionId"].as_str().unwrap());
        let mut session = read(&app, &path).await;
        while !["completed", "failed"].contains(&session["status"].as_str().unwrap()) {
            tokio::task::yield_now().await;
            session = read(&app, &path).await;
        }
        assert_eq!(
            (session["status"].as_str().unwrap(), session["error"]["code"].as_str().unwrap_or_default()),
            (status, code),
            "{session}"
        );
        assert_eq!(service.seen().calls - before, usize::from(uri.is_some()), "{decision}");
        if let Some(uri) = uri {
            assert_eq!(session["result"]["body"]["uri"], uri);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_request_is_named() {
    let app = started();
    publish(&app, "typed", get("https://example.org".to_owned())).await;
    for (body, field) in [
        (json!({ "waitSeconds": 31 }), "waitSeconds"),
        (json!({ "input": { "days": "many" } }), "input/days"),
        (json!({ "input": [] }), "input"),
        (json!({ "inputs": {} }), "inputs"),
    ] {
        let sent = app.request(Who::Member, Method::POST, "/api/tools/typed/run").json(&body).send().await.unwrap();
        let (status, refused) = problem(sent).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(field)), "{refused}");
    }
    let sent = app.request(Who::Stranger, Method::POST, "/api/tools/typed/run").json(&json!({})).send().await.unwrap();
    assert_eq!(problem(sent).await.0, 404);
}

async fn command(app: &App, arguments: &[&str], input: Option<&str>) -> Output {
    let mut command = app.cli();
    command.args(arguments).args(["--url", &app.url]).env("SHIFTBOOK_TOKEN", app.token(Who::Operator).unwrap());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let input = input.map(str::to_owned);
    let wait = move || {
        use std::io::Write as _;
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.unwrap_or_default().as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    };
    tokio::task::spawn_blocking(wait).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_lists_tools_and_prints_the_result_of_a_run() {
    let (app, service) = (started(), Service::start().await);
    publish(&app, "weather", get(service.url("/cities/{city}"))).await;
    let listed = command(&app, &["tool", "list"], None).await;
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), "weather\tpublished\tv1\thttp\tCall\n");
    let ran = command(&app, &["tool", "run", "weather", "--input", "-"], Some(r#"{ "city": "Oslo" }"#)).await;
    assert!(ran.status.success(), "{ran:?}");
    let result: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&result["status"], &result["body"]["uri"]), (&json!(200), &json!("/cities/Oslo")));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("completed (version 1)"));
    let failed = command(&app, &["tool", "run", "weather"], None).await;
    assert_eq!((failed.status.code(), failed.stdout.len()), (Some(1), 0), "{failed:?}");
    assert!(String::from_utf8(failed.stderr).unwrap().contains("call_invalid"));
    let misused = command(&app, &["tool", "run", "weather", "--input", "-"], Some("{")).await;
    assert_eq!(misused.status.code(), Some(2), "{misused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_makes_a_tool_what_a_file_says() {
    let app = started();
    let file = |more: Value| {
        let tool = json!({ "slug": "echo", "name": "Echo", "kind": "worker", "inputSchema": { "type": "object" } });
        with(tool, more).to_string()
    };
    let push = async |text: String, publish: bool| {
        let arguments = ["tool", "push", "-", "--publish"];
        command(&app, &arguments[..3 + usize::from(publish)], Some(&text)).await
    };
    let created = push(file(json!({ "retries": 2, "repeatable": true })), false).await;
    assert_eq!(String::from_utf8(created.stdout).unwrap(), "echo\tdraft\t-\tworker\tEcho\n");
    let published = push(file(json!({ "name": "Echo 2" })), true).await;
    assert_eq!(String::from_utf8(published.stdout).unwrap(), "echo\tpublished\tv1\tworker\tEcho 2\n");
    let tool = read(&app, "/api/tools/echo").await;
    assert_eq!(
        (&tool["retries"], &tool["repeatable"]),
        (&json!(0), &json!(false)),
        "what is not named has its default"
    );
    let again = push(file(json!({ "name": "Echo 2" })), true).await;
    assert!(again.status.success(), "{again:?}");
    assert_eq!(read(&app, "/api/tools/echo").await["version"], 1, "nothing differs");
    let refused = push(file(json!({ "inputSchema": { "type": "text" } })), true).await;
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(1), 0), "{refused:?}");
    for bad in ["{".to_owned(), json!({ "name": "Echo", "kind": "worker", "inputSchema": {} }).to_string()] {
        assert_eq!(push(bad, false).await.status.code(), Some(2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_of_a_worker_gets_the_input_and_its_output_is_the_result() {
    let app = started();
    let private = json!({ "kind": "worker", "privateFields": ["note"] });
    let tool = json!({ "slug": "echo", "name": "Echo", "inputSchema": { "type": "object", "properties": {
        "note": { "type": "string" } } } });
    app.post(Who::Operator, "/api/tools", with(tool, private)).await;
    app.post(Who::Operator, "/api/tools/echo/publish", json!({})).await;
    for (script, status, result) in [
        ("cat", "completed", json!({ "note": PRIVATE })),
        ("cat >/dev/null; echo one; echo two", "completed", json!("one\ntwo")),
        ("echo '{\"type\":\"progress\",\"done\":1,\"total\":2}'; cat", "completed", json!({ "note": PRIVATE })),
        ("exit 3", "failed", Value::Null),
    ] {
        let begun = run_with(&app, "echo", json!({ "input": { "note": PRIVATE } })).await;
        let mut work = app.cli();
        work.args(["work", "--tool", "echo", "--once", "--url", &app.url, "--", "sh", "-c", script]);
        work.env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap()).stderr(Stdio::null());
        let exit = tokio::task::spawn_blocking(move || work.status().unwrap()).await.unwrap();
        assert_eq!(exit.success(), status == "completed");
        let session = read(&app, &format!("/api/sessions/{}", begun["sessionId"].as_str().unwrap())).await;
        assert_eq!((&session["status"], &session["result"]), (&json!(status), &result), "{session}");
        assert_eq!(session["input"], json!({}));
        let kinds: Vec<_> = calls(&app, &begun).await.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["started", status]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_fills_the_form_of_a_tool_and_runs_it_again() {
    let (app, service) = (started(), Service::start().await);
    publish(&app, "weather", get(service.url("/cities/{city}"))).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/tools/weather").await;
    assert!(page.contains("name=\"input.city\"") && page.contains("has not been run yet"), "{page}");
    let wrong = ada.post("/tools/weather/run", &[("input.city", "Oslo"), ("input.days", "many")]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let wrong = wrong.text().await.unwrap();
    assert!(wrong.contains("aria-invalid=\"true\"") && wrong.contains("value=\"Oslo\""), "{wrong}");
    let fields = [("input.city", "Oslo"), ("input.days", "2"), ("_id", "k1")];
    let begun = ada.post("/tools/weather/run", &fields).await;
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    let session = begun.headers()["location"].to_str().unwrap().to_owned();
    let twice = ada.post("/tools/weather/run", &fields).await;
    assert_eq!(twice.headers()["location"], session.as_str(), "a form that was sent twice ran twice");
    let back = ada.ask(Method::GET, "/tools/weather/run", &[]).await;
    assert_eq!(back.status(), StatusCode::SEE_OTHER);
    assert_eq!(back.headers()["location"], "/tools/weather");
    assert_eq!(ada.ask(Method::GET, "/tools/never/run", &[]).await.status(), StatusCode::NOT_FOUND);
    let id = session.strip_prefix("/sessions/").unwrap();
    let page = ada.page(&format!("/tools/weather?again={id}")).await;
    assert!(page.contains("value=\"Oslo\"") && page.contains(&format!("href=\"{session}\"")), "{page}");
    assert!(page.contains("Run again"), "{page}");
    app.post(Who::Operator, "/api/tools/weather/unpublish", json!({})).await;
    let page = ada.page("/tools/weather").await;
    assert!(!page.contains("name=\"input.city\"") && page.contains("Only a published tool can be run."), "{page}");
}

#[tokio::test]
async fn no_worker_claims_a_run_that_the_server_makes() {
    let app = App::start();
    for (agents, code) in
        [(json!(["http:call"]), Some(422)), (json!(["scout", "http:call"]), Some(422)), (json!(["tool:call"]), None)]
    {
        let claim =
            app.request(Who::Operator, Method::POST, "/api/sessions/claim").json(&json!({ "agentSlugs": agents }));
        let answer = claim.send().await.unwrap();
        match code {
            None => assert_eq!(answer.status(), StatusCode::OK, "{agents}"),
            Some(code) => {
                let (status, refused) = problem(answer).await;
                assert_eq!((status, refused["errors"][0]["field"].as_str()), (code, Some("agentSlugs")), "{refused}");
            }
        }
    }
}
