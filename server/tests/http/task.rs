//! Pages of tasks: which links lead to running a task.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const TRIGGER: &str = "/fn/action/trigger";
const ADA: &str = "ada@acme.test";

async fn send(app: &App, method: Method, path: &str, body: &Value) -> Value {
    let answer = app.request(Who::Admin, method, path).json(body).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
    answer.json().await.unwrap()
}

async fn task_of_ada(app: &App, ada: &Browser<'_>, metadata: Value) -> String {
    let me: Value = ada.ask(Method::GET, "/api/me", &[]).await.json().await.unwrap();
    let new = json!({ "name": "Report", "agentSlug": "scout", "assignedTo": me["user"]["id"], "metadata": metadata });
    send(app, Method::POST, "/api/actions", &new).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_task_that_needs_an_input_leads_to_its_form() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let schema = json!({ "required": ["week"], "properties": { "week": { "type": "integer", "title": "Week" } } });
    let id = task_of_ada(&app, &ada, json!({ "inputSchema": schema })).await;
    let of = send(&app, Method::POST, "/api/entity-types", &json!({ "name": "Company" })).await;
    let acme = send(&app, Method::POST, "/api/entities", &json!({ "typeId": of["id"], "title": "Acme" })).await;
    let about = json!({ "targetEntityId": acme["id"] });
    send(&app, Method::PATCH, &format!("/api/actions/{id}"), &about).await;
    let entity = format!("/entities/{}", acme["id"].as_str().unwrap());
    for path in ["/today/section/delegatable", "/actions", entity.as_str()] {
        let page = ada.page(path).await;
        assert!(page.contains(&format!("href=\"/actions/{id}#run\"")), "{path}: {page}");
        assert!(!page.contains(TRIGGER), "{path}: {page}");
    }
    let address = format!("/actions/{id}");
    let own = [("action_id", id.as_str()), ("next", "/sessions/{id}"), ("page", address.as_str())];
    let refused = ada.ask(Method::POST, TRIGGER, &own).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    assert!(page.contains("id=\"run\"") && page.contains("aria-invalid=\"true\""), "{page}");
    let wrong = json!({ "input": { "week": "soon" } });
    let wrong =
        app.request(Who::Member, Method::POST, &format!("/api{address}/trigger")).json(&wrong).send().await.unwrap();
    let (status, refusal) = problem(wrong).await;
    assert_eq!((status, &refusal["errors"][0]["field"]), (422, &json!("input.week")), "{refusal}");
    let sent = ada.ask(Method::POST, TRIGGER, &[&own[..], &[("input.week", "47")]].concat()).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);

    let free = json!({ "properties": { "week": { "type": "integer", "default": 1 } }, "required": ["week"] });
    let id = task_of_ada(&app, &ada, json!({ "inputSchema": free })).await;
    assert!(ada.page("/today/section/delegatable").await.contains(TRIGGER));
    assert_eq!(
        ada.ask(Method::POST, TRIGGER, &[("action_id", &id), ("next", "/sessions/{id}")]).await.status(),
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn run_again_is_not_offered_where_the_task_is_archived() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let id = task_of_ada(&app, &ada, json!({})).await;
    let made = send(&app, Method::POST, &format!("/api/actions/{id}/trigger"), &json!({})).await;
    let session = made["id"].as_str().unwrap();
    send(&app, Method::POST, &format!("/api/sessions/{session}/cancel"), &json!({})).await;
    let retry = "/fn/session/retry";
    let pages = [format!("/sessions/{session}"), "/today/section/failed".to_owned()];
    for path in &pages {
        assert!(ada.page(path).await.contains(retry), "{path}");
    }
    send(&app, Method::PATCH, &format!("/api/actions/{id}"), &json!({ "status": "archived" })).await;
    for path in &pages {
        assert!(!ada.page(path).await.contains(retry), "{path}");
    }
    assert!(ada.page(&pages[0]).await.contains("Its task is archived, so it cannot be run again."));
    let refused = ada.ask(Method::POST, retry, &[("session_id", session), ("page", &pages[0])]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_save_of_an_older_page_is_refused_and_keeps_what_others_changed() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let id = task_of_ada(&app, &ada, json!({})).await;
    let (path, api) = (format!("/actions/{id}"), format!("/api/actions/{id}"));
    let read_at = |page: &str| {
        let (_, rest) = page.split_once("name=\"updatedAt\" value=\"").unwrap_or_else(|| panic!("{page}"));
        rest.split('"').next().unwrap().to_owned()
    };
    let save = async |read_at: &str, description: &str| {
        // The fields of the form with the approval as the page showed it.
        let form = [
            ("updatedAt", read_at),
            ("name", "Report"),
            ("description", description),
            ("slug", "report"),
            ("approval", "1"),
            ("selfApproval", "on"),
            ("status", "active"),
        ];
        let answer = ada.ask(Method::POST, &path, &form).await;
        (answer.status(), answer.text().await.unwrap())
    };
    let before = read_at(&ada.page(&path).await);
    send(&app, Method::PATCH, &api, &json!({ "metadata": { "requiresApproval": true } })).await;
    let (status, page) = save(before.as_str(), "Write it in French").await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(page.contains("Someone else saved this in the meantime"), "{page}");
    assert!(page.contains("\nWrite it in French</textarea>"), "{page}");
    let task: Value = app.request(Who::Admin, Method::GET, &api).send().await.unwrap().json().await.unwrap();
    assert_eq!((&task["metadata"]["requiresApproval"], &task["description"]), (&json!(true), &json!("")));
    // The refused page carries the newest time, so the second save replaces. Sent twice, it is no conflict.
    let newest = read_at(&page);
    assert_ne!(newest, before);
    for what in ["second", "the same sent twice"] {
        let (status, page) = save(newest.as_str(), "Write it in French").await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{what}: {page}");
    }
    let task: Value = app.request(Who::Admin, Method::GET, &api).send().await.unwrap().json().await.unwrap();
    assert_eq!(task["description"], "Write it in French");
}

#[tokio::test]
async fn a_task_of_a_person_without_an_agent_is_worked_on_and_not_run() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let me: Value = ada.ask(Method::GET, "/api/me", &[]).await.json().await.unwrap();
    let new = json!({ "name": "Call Acme", "assignedTo": me["user"]["id"] });
    let id = send(&app, Method::POST, "/api/actions", &new).await["id"].as_str().unwrap().to_owned();
    let page = ada.page("/actions").await;
    assert!(page.contains("Work on this") && !page.contains(TRIGGER), "{page}");
    let started = ada.ask(Method::POST, "/fn/working-on/start", &[("task_id", &id), ("next", "/working-on")]).await;
    assert_eq!(started.status(), StatusCode::SEE_OTHER);
    assert!(ada.page("/working-on").await.contains("Call Acme"));
}

#[tokio::test]
async fn a_new_task_that_is_sent_twice_is_created_once() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let page = ada.page("/actions").await;
    let (_, form) = page.split_once("<div id=\"new\">").unwrap_or_else(|| panic!("{page}"));
    let (_, key) = form.split_once("name=\"key\" value=\"").unwrap_or_else(|| panic!("{form}"));
    let key = key.split('"').next().unwrap();
    let mut made = Vec::new();
    for _ in 0..2 {
        let answer = ada.ask(Method::POST, "/actions", &[("name", "Report"), ("key", key)]).await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER);
        made.push(answer.headers()["location"].to_str().unwrap().to_owned());
    }
    assert_eq!(made[0], made[1]);
}

#[tokio::test]
async fn the_options_of_an_input_are_ticked_and_a_refused_form_keeps_the_ticks() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    for count in [1, 2, 7, 40] {
        let options: Vec<String> = (0..count).map(|n| format!("region {n}")).collect();
        let most = count.min(3);
        let regions = json!({ "type": "array", "items": { "enum": options }, "minItems": 1, "maxItems": most });
        let metadata = json!({ "inputSchema": { "required": ["regions"], "properties": { "regions": regions } } });
        let id = task_of_ada(&app, &ada, metadata).await;
        let address = format!("/actions/{id}");
        assert_eq!(ada.page(&address).await.matches("name=\"input.regions\"").count(), count);
        let send = async |ticked: &[String]| {
            let own = [("action_id", id.as_str()), ("next", "/sessions/{id}"), ("page", address.as_str())];
            let ticks = ticked.iter().map(|region| ("input.regions", region.as_str()));
            ada.ask(Method::POST, TRIGGER, &own.into_iter().chain(ticks).collect::<Vec<_>>()).await
        };
        for wrong in [&options[..0], &options[..if count > most { most + 1 } else { 0 }]] {
            let refused = send(wrong).await;
            assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
            let page = refused.text().await.unwrap();
            assert!(page.contains("id=\"trigger-input.regions-error\""), "{page}");
            let ticked = page
                .split("name=\"input.regions\"")
                .skip(1)
                .filter(|rest| rest.split('>').next().unwrap().contains("checked"));
            assert_eq!(ticked.count(), wrong.len(), "{page}");
        }
        let sent = send(&options[count - most..]).await;
        assert_eq!(sent.status(), StatusCode::SEE_OTHER);
        let session = sent.headers()["location"].to_str().unwrap().split('?').next().unwrap().to_owned();
        let session: Value = app
            .request(Who::Member, Method::GET, &format!("/api{session}"))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        assert_eq!(session["input"]["regions"], json!(options[count - most..]), "{session}");
    }
}
