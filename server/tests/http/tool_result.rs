//! The page that writes the result of a tool to an entity, without scripts.

use crate::{
    app::{App, Who},
    browser::Browser,
};
use reqwest::{Method, StatusCode, header::LOCATION};
use serde_json::{Value, json};

fn id(made: &Value) -> &str {
    made["id"].as_str().unwrap()
}

/// A session of a tool, with this result if there is one.
async fn ran(app: &App, result: Option<Value>) -> String {
    let new = json!({ "sessionType": "tool", "agentSlug": "look-up" });
    let session = id(&app.post(Who::Member, "/api/sessions", new).await).to_owned();
    if let Some(result) = result {
        app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["look-up"] })).await;
        let complete = json!({ "attempt": 1, "result": result });
        app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), complete).await;
    }
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_written_to_an_entity_from_its_page() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let fields = json!([
        { "slug": "stage", "name": "Stage", "type": "select", "options": ["Won", "Lost"] },
        { "slug": "size", "name": "Employees", "type": "number" },
    ]);
    let of = json!({ "name": "Company", "slug": "company", "fields": fields });
    let of = app.post(Who::Operator, "/api/entity-types", of).await;
    let acme = app.post(Who::Member, "/api/entities", json!({ "typeId": of["id"], "title": "Acme" })).await;
    let create = json!({ "name": "Create it", "outputType": "entity", "outputConfig": { "entityType": "company" } });
    let create = app.post(Who::Operator, "/api/actions", create).await;
    let fill = app.post(Who::Operator, "/api/actions", json!({ "name": "Fill it in", "outputType": "fields" })).await;

    let open = ran(&app, None).await;
    let none = ada.ask(Method::GET, &format!("/sessions/{open}/promote"), &[]).await;
    assert_eq!(none.status(), StatusCode::NOT_FOUND, "there is no result yet");
    app.post(Who::Operator, &format!("/api/sessions/{open}/cancel"), json!({})).await;
    let run = ran(&app, Some(json!({ "name": "Acme Inc.", "body": { "Stage": "Won", "employees": 12 } }))).await;
    let path = format!("/sessions/{run}/promote");
    assert!(ada.page(&format!("/sessions/{run}")).await.contains(&format!("href=\"{path}\"")));
    let page = ada.page(&path).await;
    assert!(page.contains("Create it") && page.contains("Fill it in") && !page.contains("fields.stage"), "{page}");
    let page = ada.page(&format!("{path}?task={}", id(&create))).await;
    for (slug, pointer) in [("title", "/name"), ("stage", "/body/Stage"), ("size", "/body/employees")] {
        let control = format!("name=\"fields.{slug}\" type=\"text\" value=\"{pointer}\"");
        assert!(page.contains(&control), "{control}: {page}");
    }

    let refused = async |method: Method, path: &str, form: &[(&str, &str)], parts: &[&str]| {
        let answer = ada.ask(method, path, form).await;
        assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY, "{path} {form:?}");
        let page = answer.text().await.unwrap();
        for part in parts {
            assert!(page.contains(part), "{part}: {page}");
        }
    };
    let wrong = format!("{path}?task=x");
    refused(Method::GET, &wrong, &[], &["id=\"promote-task-error\"", "an id, or nothing"]).await;
    let about_none = format!("{path}?task={}", id(&fill));
    refused(Method::GET, &about_none, &[], &["id=\"promote-entity-error\"", "choose the entity"]).await;
    let chosen = [("task", id(&fill)), ("entity", id(&acme))];
    let with = |fields: &[(&'static str, &'static str)]| [&chosen[..], fields].concat();
    let nothing = ["name a part of the result for at least one field"];
    refused(Method::POST, &path, &with(&[("fields.stage", " ")]), &nothing).await;
    let nowhere = ["id=\"promote-fields.stage-error\"", "nothing at this JSON Pointer", "value=\"/nowhere\""];
    refused(Method::POST, &path, &with(&[("fields.stage", "/nowhere")]), &nowhere).await;
    let no_number = ["id=\"promote-fields.size-error\"", "value=\"/body/Stage\""];
    refused(Method::POST, &path, &with(&[("fields.size", "/body/Stage")]), &no_number).await;

    let written = with(&[("fields.stage", "/body/Stage"), ("fields.size", "#/body/employees")]);
    let first = ada.ask(Method::POST, &path, &written).await;
    assert_eq!(first.status(), StatusCode::SEE_OTHER);
    let again = ada.ask(Method::POST, &path, &written).await;
    assert_eq!(again.headers()[LOCATION], first.headers()[LOCATION], "a repeat writes nothing");
    let read = app.request(Who::Member, Method::GET, &format!("/api/entities/{}", id(&acme))).send().await.unwrap();
    let acme: Value = read.json().await.unwrap();
    assert_eq!((&acme["fields"], &acme["version"]), (&json!({ "stage": "Won", "size": 12 }), &json!(2)));
    let page = ada.page(first.headers()[LOCATION].to_str().unwrap()).await;
    assert!(page.contains("Fill it in"), "{page}");
}
