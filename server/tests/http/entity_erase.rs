//! Erasing an entity over the API and on its page.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn acme(app: &App) -> String {
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Company", "slug": "company" })).await;
    let made = app.post(Who::Member, "/api/entities", json!({ "typeId": of["id"], "title": "Acme Secret" })).await;
    made["id"].as_str().unwrap().to_owned()
}

async fn read(app: &App, path: &str) -> Value {
    app.request(Who::Member, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn an_admin_erases_an_entity_and_its_tombstone_takes_no_change() {
    let app = App::start();
    let id = acme(&app).await;
    let path = format!("/api/entities/{id}");
    let refused = app.request(Who::Operator, Method::POST, &format!("{path}/erase")).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let tombstone = app.post(Who::Admin, &format!("{path}/erase"), json!({})).await;
    assert_eq!((&tombstone["title"], &tombstone["fields"]), (&json!("(erased)"), &json!({})));
    assert!(tombstone["erasedAt"].is_string(), "{tombstone}");
    assert_eq!(read(&app, &path).await, tombstone);
    assert_eq!(read(&app, &format!("{path}/versions")).await["items"][0]["title"], "(erased)");
    assert_eq!(read(&app, "/api/entities").await["items"], json!([]));
    let change = json!({ "version": 1, "title": "Again" });
    let late = app.request(Who::Member, Method::PATCH, &path).json(&change).send().await.unwrap();
    let (status, refusal) = problem(late).await;
    assert_eq!((status, &refusal["code"]), (409, &json!("wrong_status")), "{refusal}");
}

#[tokio::test]
async fn the_page_of_an_entity_asks_for_a_word_before_it_erases() {
    let app = App::start();
    let path = format!("/entities/{}", acme(&app).await);
    let ada = Browser::of(&app, "ada@acme.test").await;
    assert!(ada.page(&path).await.contains("Type “erase” to erase it"));
    let refused = ada.ask(Method::POST, &path, &[("do", "erase"), ("confirm", "yes")]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    assert!(page.contains("type the word erase") && page.contains("Acme Secret"), "{page}");
    let done = ada.ask(Method::POST, &path, &[("do", "erase"), ("confirm", "erase")]).await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    let page = ada.page(&path).await;
    assert!(page.contains("Its title and values, and those of all its versions, are removed."), "{page}");
    assert!(!page.contains("Acme Secret") && !page.contains("Type “erase”"), "{page}");
}
