//! Composite tools with the real binary: published and run through the API, with steps that workers and the server run.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
    mcp_service::McpService,
    tool_service::Service,
};
use reqwest::Method;
use serde_json::{Value, json};

/// Settings that permit services on this machine.
const OPEN: &str = "[outbound]\nallow_private = [\"127.0.0.1\"]\n";

async fn publish(app: &App, slug: &str, more: Value) {
    let mut tool = json!({ "slug": slug, "name": slug, "inputSchema": {
        "type": "object", "properties": { "city": { "type": "string" }, "at": {} } } });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
}

async fn read(app: &App, path: &str) -> Value {
    app.request(Who::Member, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

fn steps() -> Value {
    json!({ "steps": [
        { "name": "place", "tool": "geocode", "input": { "city": "{/input/city}" } },
        { "name": "weather", "tool": "weather", "input": { "at": "{/steps/place/at}" } },
    ] })
}

/// A call of the server after a step of a worker.
async fn two_steps(app: &App, service: &Service) {
    publish(app, "geocode", json!({ "kind": "worker" })).await;
    let call = json!({ "method": "POST", "url": service.url("/weather"), "body": "input" });
    publish(app, "weather", json!({ "kind": "http", "http": call })).await;
    publish(app, "trip", json!({ "kind": "composite", "composite": steps() })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_starts_its_steps_and_returns_what_the_last_one_returned() {
    let (app, service) = (App::start_with(OPEN, &[], &[]), Service::start().await);
    two_steps(&app, &service).await;
    let run = app.post(Who::Member, "/api/tools/trip/run", json!({ "input": { "city": "Oslo" } })).await;
    assert_eq!(run["status"], "running", "{run}");
    let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["tool:geocode"] })).await;
    let step = &claimed["sessions"][0]["session"];
    assert_eq!((&step["input"], &step["parentId"]), (&json!({ "city": "Oslo" }), &run["sessionId"]), "{claimed}");
    let path = format!("/api/sessions/{}/complete", step["id"].as_str().unwrap());
    app.post(Who::Worker, &path, json!({ "attempt": 1, "result": { "at": [59, 10] } })).await;
    let id = run["sessionId"].as_str().unwrap();
    // The server's step ends by itself; the end of the run is in its stream.
    let follow = app.request(Who::Member, Method::GET, &format!("/api/sessions/{id}/events/stream"));
    let stream = follow.send().await.unwrap().text().await.unwrap();
    assert!(stream.contains("tool.composition_step.completed"), "{stream}");
    let ended = read(&app, &format!("/api/tool-sessions/{id}")).await;
    assert_eq!(
        (&ended["status"], &ended["toolSlug"], &ended["version"]),
        (&json!("completed"), &json!("trip"), &json!(1)),
        "{ended}"
    );
    let body: Value = serde_json::from_str(ended["result"]["body"]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body, json!({ "at": [59, 10] }));
    assert_eq!(service.seen().calls, 1);
    let listed = read(&app, "/api/tool-sessions?tool=weather&status=completed").await;
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
    // The transcript links to the steps, and their pages link back.
    let browser = Browser::of(&app, "ada@acme.test").await;
    let page = browser.page(&format!("/sessions/{id}")).await;
    let child = listed["items"][0]["id"].as_str().unwrap();
    assert!(page.contains(&format!("<a href=\"/sessions/{child}\">Session of weather</a>")), "{page}");
    assert!(browser.page(&format!("/sessions/{child}")).await.contains(&format!("/sessions/{id}")));
    let found = browser.page("/find?q=TRI").await;
    assert!(
        found.contains("<a href=\"/tools/trip#run\" data-kind=\"tool: run\" data-section=\"Tools\">trip</a>"),
        "{found}"
    );
    let page = browser.page("/tools/trip").await;
    assert!(page.contains("<a href=\"/tools/geocode\">geocode</a>"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_run_calls_a_worker_a_service_and_an_mcp_server() {
    let (app, service, mcp) = (App::start_with(OPEN, &[], &[]), Service::start().await, McpService::start().await);
    publish(&app, "geocode", json!({ "kind": "worker" })).await;
    let call = json!({ "method": "POST", "url": service.url("/weather"), "body": "input" });
    publish(&app, "weather", json!({ "kind": "http", "http": call })).await;
    let server = json!({ "name": "Test", "slug": "test", "transport": { "kind": "http", "url": mcp.url("/mcp") } });
    app.post(Who::Operator, "/api/mcp-servers", server).await;
    app.post(Who::Operator, "/api/mcp-servers/test/refresh", json!({})).await;
    app.post(Who::Operator, "/api/mcp-servers/test/import", json!({ "tools": ["echo"] })).await;
    app.post(Who::Operator, "/api/tools/test-echo/publish", json!({})).await;
    let composite = json!({
        "steps": [
            { "name": "place", "tool": "geocode", "input": { "city": "{/input/city}" } },
            { "name": "weather", "tool": "weather", "input": { "at": "{/steps/place/at}" } },
            { "name": "said", "tool": "test-echo", "input": { "text": "{/input/city}" }, "after": ["weather"] },
        ],
        "result": { "at": "{/steps/place/at}", "status": "{/steps/weather/status}", "said": "{/steps/said/arguments/text}" },
    });
    publish(&app, "trip", json!({ "kind": "composite", "composite": composite })).await;
    let run = app.post(Who::Member, "/api/tools/trip/run", json!({ "input": { "city": "Oslo" } })).await;
    let id = run["sessionId"].as_str().unwrap();
    let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["tool:geocode"] })).await;
    let path = format!("/api/sessions/{}/complete", claimed["sessions"][0]["session"]["id"].as_str().unwrap());
    app.post(Who::Worker, &path, json!({ "attempt": 1, "result": { "at": [59, 10] } })).await;
    // The stream ends with the run.
    let follow = app.request(Who::Member, Method::GET, &format!("/api/sessions/{id}/events/stream"));
    follow.send().await.unwrap().text().await.unwrap();
    let ended = read(&app, &format!("/api/tool-sessions/{id}")).await;
    assert_eq!(ended["result"], json!({ "at": [59, 10], "status": 200, "said": "Oslo" }), "{ended}");
    let children = read(&app, &format!("/api/tool-sessions?parentId={id}")).await;
    let mut tools: Vec<_> = children["items"].as_array().unwrap().iter().map(|child| &child["toolSlug"]).collect();
    tools.sort_by_key(|slug| slug.to_string());
    assert_eq!(tools, [&json!("geocode"), &json!("test-echo"), &json!("weather")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_steps_and_filters_are_refused_by_their_place() {
    let app = App::start();
    let sent = async |who: Who, method: Method, path: &str, body: Option<Value>| {
        let request = app.request(who, method, path);
        let request = body.map_or(request.try_clone().unwrap(), |body| request.json(&body));
        problem(request.send().await.unwrap()).await
    };
    let new = |steps: Value| {
        Some(json!({ "name": "T", "kind": "composite", "composite": steps, "inputSchema": { "type": "object" } }))
    };
    for (steps, field) in [
        (json!({ "steps": [] }), "composite.steps"),
        (json!({ "steps": [{ "name": "a", "tool": "B" }] }), "composite.steps[0].tool"),
        (
            json!({ "steps": [{ "name": "a", "tool": "b", "input": { "x": "{/input/no}" } }] }),
            "composite.steps[0].input/x",
        ),
    ] {
        let (status, problem) = sent(Who::Operator, Method::POST, "/api/tools", new(steps)).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)), "{problem}");
    }
    let unknown = new(json!({ "steps": [], "parallel": true }));
    assert_eq!(sent(Who::Operator, Method::POST, "/api/tools", unknown).await.0, 422);
    let claim = Some(json!({ "agentSlugs": ["composite:trip"] }));
    let (status, problem) = sent(Who::Worker, Method::POST, "/api/sessions/claim", claim).await;
    assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("agentSlugs")), "{problem}");
    for query in ["status=failed", "tool=A", "limit=0", "parentId=x", "cursor=x", "unknown=1"] {
        let (status, problem) = sent(Who::Member, Method::GET, &format!("/api/tool-sessions?{query}"), None).await;
        assert!([400, 422].contains(&status), "{query}: {problem}");
    }
}

/// The tag of a page with this attribute.
fn tag<'a>(page: &'a str, attribute: &str) -> &'a str {
    let at = page.find(attribute).unwrap_or_else(|| panic!("no {attribute}: {page}"));
    let begin = page[..at].rfind('<').unwrap();
    &page[begin..at + page[at..].find('>').unwrap()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_a_composite_tool_has_one_primary_button() {
    let app = App::start();
    publish(&app, "geocode", json!({ "kind": "worker" })).await;
    let steps = json!({ "steps": [{ "name": "place", "tool": "geocode", "input": { "city": "{/input/city}" } }] });
    publish(&app, "trip", json!({ "kind": "composite", "composite": steps })).await;
    let browser = Browser::of(&app, "ada@acme.test").await;
    let primary = async || {
        let page = browser.page("/tools/trip").await;
        ["value=\"publish\"", "data-key=\"run\""].map(|of| tag(&page, of).contains("data-look=\"primary\""))
    };
    assert_eq!(primary().await, [false, true], "nothing but newer steps to publish");
    let revision = read(&app, "/api/tools/trip").await["revision"].take();
    let change = json!({ "revision": revision, "description": "To a city." });
    let changed = app.request(Who::Operator, Method::PATCH, "/api/tools/trip").json(&change).send().await.unwrap();
    assert!(changed.status().is_success(), "{}", changed.text().await.unwrap());
    assert_eq!(primary().await, [true, false], "a change to publish");
}
