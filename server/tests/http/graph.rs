//! Sessions that wait for others, over HTTP, in the way that `docs/agents.md` describes for workers.

use crate::app::{App, Who, problem};
use reqwest::Method;
use serde_json::{Value, json};

async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Member, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

async fn action(app: &App, name: &str) -> String {
    let made = app.post(Who::Operator, "/api/actions", json!({ "name": name, "slug": name, "agentSlug": name })).await;
    format!("/api/actions/{}/trigger", made["id"].as_str().unwrap())
}

async fn claim(app: &App, agent: &str) -> Value {
    let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": [agent] })).await;
    claimed["sessions"][0].clone()
}

async fn complete(app: &App, claimed: &Value, result: Value) -> Value {
    let path = format!("/api/sessions/{}/complete", claimed["session"]["id"].as_str().unwrap());
    app.post(Who::Worker, &path, json!({ "attempt": claimed["attempt"], "result": result })).await
}

#[tokio::test]
async fn a_worker_fans_out_and_joins_and_a_page_shows_what_waits() {
    let app = App::start();
    let (report, figures, print) =
        (action(&app, "report").await, action(&app, "figures").await, action(&app, "print").await);
    let parent = app.post(Who::Member, &report, json!({})).await["id"].clone();
    let after = json!({ "dependsOn": [parent] });
    let printed = app.post(Who::Member, &print, after).await;
    assert_eq!((&printed["status"], &printed["waitsFor"]), (&json!("draft"), &json!("dependencies")));

    let held = claim(&app, "report").await;
    assert!(held.get("children").is_none() && held.get("dependencies").is_none());
    let mut parts = Vec::new();
    for region in ["north", "south"] {
        // The idempotency key of a worker: a repeated request starts no second session.
        let part = json!({ "input": region, "parentId": parent, "idempotencyKey": format!("{parent}-{region}") });
        let made = app.post(Who::Worker, &figures, part.clone()).await;
        assert_eq!(app.post(Who::Worker, &figures, part).await["id"], made["id"]);
        assert_eq!((&made["parentId"], &made["status"]), (&parent, &json!("pending")));
        parts.push(made["id"].clone());
    }
    let path = format!("/api/sessions/{}/yield", parent.as_str().unwrap());
    let yielded = json!({ "attempt": 1, "status": "idle", "waitFor": "children" });
    let yielded = app.post(Who::Worker, &path, yielded).await;
    assert_eq!((&yielded["status"], &yielded["waitsFor"]), (&json!("idle"), &json!("children")));
    for total in 1..=2 {
        let part = claim(&app, "figures").await;
        complete(&app, &part, json!(total.to_string())).await;
    }
    let held = claim(&app, "report").await;
    assert_eq!(held["attempt"], 2);
    let children = held["children"].as_array().unwrap();
    let ids: Vec<_> = children.iter().map(|child| &child["sessionId"]).collect();
    assert!(ids.len() == 2 && parts.iter().all(|part| ids.contains(&part)), "{held}");
    let mut outputs: Vec<_> = children.iter().map(|child| child["output"].as_str().unwrap()).collect();
    outputs.sort_unstable();
    assert_eq!(outputs, ["1", "2"]);
    assert_eq!((&children[0]["actionSlug"], &children[0]["status"]), (&json!("figures"), &json!("completed")));

    let cookie = app.cookie().await;
    let page = async |id: &Value| {
        let page = app.http.get(format!("{}/sessions/{}", app.url, id.as_str().unwrap())).header("cookie", &cookie);
        page.send().await.unwrap().text().await.unwrap()
    };
    let html = page(&printed["id"]).await;
    let link = format!("href=\"/sessions/{}\"", parent.as_str().unwrap());
    assert!(html.contains("<h2>Waiting for</h2>") && html.contains(&link), "{html}");
    assert!(html.contains("the sessions it depends on"), "{html}");
    let html = page(&parent).await;
    let link = format!("href=\"/sessions/{}\"", printed["id"].as_str().unwrap());
    assert!(html.contains("<h2>Needed by</h2>") && html.contains(&link), "{html}");

    complete(&app, &held, json!("done")).await;
    let path = format!("/api/sessions/{}/dependencies", parent.as_str().unwrap());
    let around = get(&app, &path).await;
    assert_eq!(around["dependencies"], json!([]));
    assert_eq!(
        (&around["dependents"][0]["sessionId"], &around["dependents"][0]["status"]),
        (&printed["id"], &json!("pending"))
    );
    let held = claim(&app, "print").await;
    assert_eq!((&held["dependencies"][0]["sessionId"], &held["dependencies"][0]["output"]), (&parent, &json!("done")));
}

#[tokio::test]
async fn what_cannot_be_waited_for_is_refused_by_its_field() {
    let app = App::start();
    let trigger = action(&app, "report").await;
    let theirs = app.post(Who::Stranger, "/api/sessions", json!({ "sessionType": "agent", "agentSlug": "x" })).await;
    for (body, status, code, field) in [
        (json!({ "dependsOn": ["x"] }), 422, "invalid_request", Some("dependsOn[0]")),
        (json!({ "ifDependencyFails": "run_anyway" }), 422, "invalid_request", Some("ifDependencyFails")),
        (json!({ "parentId": "x" }), 422, "invalid_request", Some("parentId")),
        (json!({ "dependsOn": [theirs["id"]] }), 404, "not_found", None),
        (json!({ "parentId": theirs["id"] }), 404, "not_found", None),
    ] {
        let response = app.request(Who::Worker, Method::POST, &trigger).json(&body).send().await.unwrap();
        let (answered, problem) = problem(response).await;
        assert_eq!((answered, &problem["code"]), (status, &json!(code)), "{body}: {problem}");
        assert_eq!(problem["errors"][0]["field"].as_str(), field, "{body}: {problem}");
    }
    let id = app.running(Who::Member).await;
    for what in ["children", "dependencies"] {
        let body = json!({ "attempt": 1, "status": "idle", "waitFor": what });
        let response = app.request(Who::Worker, Method::POST, &format!("/api/sessions/{id}/yield")).json(&body);
        let (status, problem) = problem(response.send().await.unwrap()).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("waitFor")), "{problem}");
    }
}
