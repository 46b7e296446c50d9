//! Results of runs that are written to an entity when the run completes, over the API and from the form of a page; and
//! results that are too large for lists.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use domain::limit::TOOL_RESULT_BYTES_MAX;
use reqwest::{Method, StatusCode, header::LOCATION};
use serde_json::{Value, json};

fn id(made: &Value) -> &str {
    made["id"].as_str().unwrap()
}

async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Member, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

/// Creates and publishes the tool `look-up`, whose runs workers claim.
async fn tool(app: &App) {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let new = json!({ "slug": "look-up", "name": "Look up", "kind": "worker", "inputSchema": schema });
    app.post(Who::Operator, "/api/tools", new).await;
    app.post(Who::Operator, "/api/tools/look-up/publish", json!({})).await;
}

/// A task that fills in companies, and a company.
async fn task_and_company(app: &App) -> (Value, Value) {
    let fields = json!([{ "slug": "stage", "name": "Stage", "type": "select", "options": ["Won", "Lost"] }]);
    let of = json!({ "name": "Company", "slug": "company", "fields": fields });
    let of = app.post(Who::Operator, "/api/entity-types", of).await;
    let acme = app.post(Who::Member, "/api/entities", json!({ "typeId": of["id"], "title": "Acme" })).await;
    let fill = json!({ "name": "Fill it in", "outputType": "fields" });
    (app.post(Who::Operator, "/api/actions", fill).await, acme)
}

/// Completes the only run that waits.
async fn complete(app: &App, result: &Value) {
    let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["tool:look-up"] })).await;
    let run = id(&claimed["sessions"][0]["session"]).to_owned();
    let complete = json!({ "attempt": 1, "result": result });
    app.post(Who::Worker, &format!("/api/sessions/{run}/complete"), complete).await;
}

/// Reads the output of a run until it has been followed up.
async fn settled(app: &App, run: &str) -> Value {
    loop {
        let mut found = get(app, &format!("/api/tool-sessions/{run}")).await;
        if !found["output"]["sessionId"].is_null() || !found["output"]["refused"].is_null() {
            return found["output"].take();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_result_of_a_run_is_written_when_it_completes_or_the_run_says_why_not() {
    let app = App::start();
    tool(&app).await;
    let (fill, acme) = task_and_company(&app).await;
    let output = json!({ "actionId": fill["id"], "entityId": acme["id"], "fields": { "stage": "/body/stage" } });
    let begun = app.post(Who::Member, "/api/tools/look-up/run", json!({ "output": output })).await;
    let run = begun["sessionId"].as_str().unwrap();
    let waiting = get(&app, &format!("/api/tool-sessions/{run}")).await;
    let expected = json!({ "actionId": fill["id"], "entityId": acme["id"], "sessionId": null, "refused": null });
    assert_eq!(waiting["output"], expected, "{waiting}");
    complete(&app, &json!({ "body": { "stage": "Won" } })).await;
    let written = settled(&app, run).await;
    let task = get(&app, &format!("/api/sessions/{}", written["sessionId"].as_str().unwrap())).await;
    assert_eq!((&task["status"], &task["parentId"]), (&json!("completed"), &json!(run)), "{task}");
    let entity = get(&app, &format!("/api/entities/{}", id(&acme))).await;
    assert_eq!((&entity["fields"], &entity["version"]), (&json!({ "stage": "Won" }), &json!(2)));
    assert!(get(&app, "/api/tool-sessions").await["items"][0].get("output").is_none(), "lists leave it out");

    let begun = app.post(Who::Member, "/api/tools/look-up/run", json!({ "output": output })).await;
    let run = begun["sessionId"].as_str().unwrap();
    complete(&app, &json!({ "body": {} })).await;
    let refused = settled(&app, run).await;
    assert!(refused["refused"].as_str().unwrap().contains("fields.stage"), "{refused}");
    assert_eq!(get(&app, &format!("/api/sessions/{run}")).await["status"], "completed");

    let ran = |output: Value| {
        let request = app.request(Who::Member, Method::POST, "/api/tools/look-up/run");
        let request = request.json(&json!({ "output": output }));
        async move { problem(request.send().await.unwrap()).await }
    };
    for (output, field) in [
        (json!({ "actionId": acme["id"] }), "output.actionId"),
        (json!({ "actionId": fill["id"], "entityId": fill["id"] }), "output.entityId"),
        (
            json!({ "actionId": fill["id"], "fields": { "stage": format!("/{}", "x".repeat(500)) } }),
            "output.fields.stage",
        ),
    ] {
        let (status, refused) = ran(output).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(field)), "{refused}");
    }
    let test = app.request(Who::Operator, Method::POST, "/api/tools/look-up/test").json(&json!({ "output": output }));
    assert_eq!(problem(test.send().await.unwrap()).await.0, 422, "a test writes nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_form_of_a_run_takes_the_task_that_writes_its_result() {
    let app = App::start();
    tool(&app).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/tools/look-up").await;
    assert!(!page.contains("name=\"_task\""), "there is no task: {page}");
    let (fill, acme) = task_and_company(&app).await;
    let page = ada.page("/tools/look-up").await;
    assert!(page.contains("name=\"_task\"") && page.contains("Fill it in") && page.contains("Acme"), "{page}");
    let (fill, acme) = (id(&fill), id(&acme));
    for (typed, control, words) in [
        (vec![("_task", "x")], "run-_task-error", "an id, or nothing"),
        (vec![("_task", acme)], "run-_task-error", "there is no such task"),
        (vec![("_task", ""), ("_part.stage", "/a")], "run-_task-error", "choose a task"),
        (vec![("_task", fill), ("_entity", fill)], "run-_entity-error", "there is no such entity"),
        (vec![("_task", fill), ("_entity", acme), ("_part.stage", "a")], "run-_part.stage-error", "JSON Pointer"),
        (vec![("_task", fill), ("_shown", "other/")], "run-_task-error", "check them"),
    ] {
        let refused = ada.post("/tools/look-up/run", &[&[("input.city", "Oslo")][..], &typed[..]].concat()).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{typed:?}");
        let page = refused.text().await.unwrap();
        assert!(page.contains(&format!("id=\"{control}\"")) && page.contains(words), "{typed:?}: {page}");
        assert!(page.contains("value=\"Oslo\""), "what was typed is kept: {page}");
    }
    // Without scripts a button shows the fields of the task.
    let chosen = [("input.city", "Oslo"), ("_task", fill), ("_entity", acme)];
    let shown = ada.post("/tools/look-up/run", &[&chosen[..], &[("step", "output")]].concat()).await;
    assert_eq!(shown.status(), StatusCode::OK);
    let page = shown.text().await.unwrap();
    let of = format!("name=\"_shown\" value=\"{fill}/{acme}\"");
    assert!(page.contains("name=\"_part.stage\"") && page.contains(&of) && page.contains("value=\"Oslo\""), "{page}");
    let shown = ada.post("/tools/look-up/run", &[("_task", ""), ("step", "output")]).await;
    assert!(shown.text().await.unwrap().contains("id=\"run-_task-error\""), "no task was chosen");
    let of = format!("{fill}/{acme}");
    let typed = [&chosen[..], &[("_shown", of.as_str()), ("_part.stage", "/body/stage")]].concat();
    let begun = ada.post("/tools/look-up/run", &typed).await;
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    let path = begun.headers()[LOCATION].to_str().unwrap().to_owned();
    assert!(ada.page(&path).await.contains("Written when the run completes"));
    complete(&app, &json!({ "body": { "stage": "Won" } })).await;
    let written = settled(&app, path.strip_prefix("/sessions/").unwrap()).await;
    let page = ada.page(&path).await;
    let href = format!("href=\"/sessions/{}\"", written["sessionId"].as_str().unwrap());
    assert!(page.contains("Written by a task") && page.contains(&href), "{page}");
    assert_eq!(get(&app, &format!("/api/entities/{acme}")).await["fields"], json!({ "stage": "Won" }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_of_the_largest_size_is_cut_on_pages_and_saved_whole() {
    let app = App::start();
    tool(&app).await;
    let begun = app.post(Who::Member, "/api/tools/look-up/run", json!({})).await;
    let run = begun["sessionId"].as_str().unwrap();
    let result: Value = format!("first {}", "x".repeat(TOOL_RESULT_BYTES_MAX - 8)).into();
    complete(&app, &result).await;
    let of_session = format!("/api/sessions/{run}/result");
    let saved = app.request(Who::Member, Method::GET, &of_session).send().await.unwrap().text().await.unwrap();
    let expected = result.to_string();
    assert!(saved == expected && saved.len() == TOOL_RESULT_BYTES_MAX);
    for path in ["/api/tool-sessions", "/api/sessions"] {
        let listed = get(&app, path).await;
        let first = &listed["items"][0];
        assert_eq!((&first["result"], &first["resultLeftOut"]), (&Value::Null, &json!(true)), "{path}");
        let whole = get(&app, &format!("{path}/{run}")).await;
        assert!(whole["result"] == result && whole.get("resultLeftOut").is_none(), "{path}");
    }
    let ada = Browser::of(&app, "ada@acme.test").await;
    for path in [format!("/sessions/{run}"), "/tools/look-up".to_owned()] {
        let page = ada.page(&path).await;
        assert!(page.contains("first xxx") && page.contains(&format!("href=\"{of_session}\"")), "{path}");
        assert!(page.len() < 300_000, "{path} has {} bytes", page.len());
    }
    let link = ada.call(Method::POST, &format!("/api/sessions/{run}/share-links")).json(&json!({ "days": 1 }));
    let link: Value = link.send().await.unwrap().json().await.unwrap();
    let mut reader = Browser::stranger(&app);
    let secret = link["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    reader.post(&format!("/s/{secret}"), &[]).await;
    let shared = reader.page(&format!("/shared/{}", id(&link["link"]))).await;
    assert!(shared.contains("first xxx") && shared.len() < 300_000, "{} bytes", shared.len());
}
