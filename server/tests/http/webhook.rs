//! Webhooks with the real binary and a real receiver.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, shown_at},
};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::receiver::Receiver;

/// Settings that permit receivers on this machine.
const OPEN: &str = "public_url = \"https://log.example.org\"\n[outbound]\nallow_private = [\"127.0.0.1\"]\n";

fn started() -> App {
    // Nothing listens at this proxy. A server that used the proxy of its environment would deliver nothing.
    let proxy = "http://127.0.0.1:9";
    App::start_with(OPEN, &[], &[("HTTP_PROXY", proxy), ("http_proxy", proxy)])
}

async fn subscribed(app: &App, receiver: &Receiver) -> Value {
    let new = json!({ "url": receiver.url(), "events": ["session.failed"] });
    app.post(Who::Admin, "/api/webhooks", new).await
}

async fn fail_one(app: &App) -> String {
    let id = app.running(Who::Operator).await;
    app.post(Who::Worker, &format!("/api/sessions/{id}/fail"), json!({ "attempt": 1, "error": { "message": "x" } }))
        .await;
    id
}

async fn deliveries(app: &App, made: &Value) -> Value {
    let path = format!("/api/webhooks/{}/deliveries", made["webhook"]["id"].as_str().unwrap());
    let response = app.request(Who::Admin, Method::GET, &path).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.json::<Value>().await.unwrap()["deliveries"].clone()
}

#[tokio::test]
async fn what_was_committed_before_a_kill_is_delivered_after_the_restart() {
    let mut app = started();
    let receiver = Receiver::start().await;
    let made = subscribed(&app, &receiver).await;
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let address = receiver.address;
    drop(receiver);
    let id = fail_one(&app).await;
    app.kill();
    app.serve_again();
    let receiver = Receiver::at(address).await;
    let received = receiver.wait_for(1).await;
    let body: Value = serde_json::from_str(&received[0].body).unwrap();
    assert_eq!(body["data"]["url"], format!("https://log.example.org/sessions/{id}"));
    assert_eq!(deliveries(&app, &made).await[0]["id"], received[0].header("webhook-id"));
    let listed = app.request(Who::Admin, Method::GET, "/api/webhooks").send().await.unwrap().text().await.unwrap();
    assert!(!listed.contains("whsec_"), "the secret is shown once");
}

#[tokio::test]
async fn a_message_to_a_receiver_of_today_arrives_by_itself() {
    let app = started();
    let receiver = Receiver::start().await;
    let made = subscribed(&app, &receiver).await;
    let path = format!("/api/webhooks/{}/test", made["webhook"]["id"].as_str().unwrap());
    let sent = app.post(Who::Admin, &path, json!({})).await;
    let received = receiver.wait_for(1).await;
    assert_eq!(sent["id"], received[0].header("webhook-id"));
    assert_eq!(sent["state"], "waiting");
    let removed = app
        .request(Who::Admin, Method::DELETE, &format!("/api/webhooks/{}", made["webhook"]["id"].as_str().unwrap()))
        .send()
        .await
        .unwrap();
    assert_eq!(removed.status(), 204);
}

#[tokio::test]
async fn a_url_that_leads_inside_is_refused_by_its_field() {
    let app = App::start();
    for url in ["http://127.0.0.1:9/", "http://[::ffff:10.0.0.1]/", "http://0x7f000001/", "file:///etc/passwd"] {
        let new = json!({ "url": url, "events": ["session.failed"] });
        let refused = app.request(Who::Admin, Method::POST, "/api/webhooks").json(&new).send().await.unwrap();
        let (status, problem) = problem(refused).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("url")), "{problem}");
    }
}

#[tokio::test]
async fn the_settings_page_adds_tests_and_removes_a_webhook() {
    let app = started();
    let receiver = Receiver::start().await;
    let cookie = app.cookie().await;
    let post = async |path: &str, form: &[(&str, &str)]| {
        let request = app.http.post(format!("{}{path}", app.url)).header("origin", &app.url).header("cookie", &cookie);
        let response = request.form(form).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (status, page) =
        post("/settings/webhooks", &[("url", "http://10.0.0.1/"), ("event:session.failed", "yes")]).await;
    assert_eq!(status, 422);
    assert!(
        page.contains("10.0.0.1 leads to 10.0.0.1: a private network") && page.contains("http://10.0.0.1/"),
        "{page}"
    );
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let made = ada.post("/settings/webhooks", &[("url", &receiver.url()), ("event:session.failed", "yes")]).await;
    let address = shown_at(&made, "/settings", "#new-webhook");
    let shown = ada.ask_and_keep(Method::GET, &address, &[]).await.text().await.unwrap();
    assert!(shown.contains("whsec_"), "{shown}");
    assert!(!ada.page(&address).await.contains("whsec_"), "it is shown once");
    let listed: Value =
        app.request(Who::Admin, Method::GET, "/api/webhooks").send().await.unwrap().json().await.unwrap();
    let id = listed["webhooks"][0]["id"].as_str().unwrap();
    assert_eq!(listed["webhooks"][0]["events"], json!(["session.failed"]));
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1, "loading the page again adds none");
    assert_eq!(post(&format!("/settings/webhooks/{id}/test"), &[]).await.0, 303);
    receiver.wait_for(1).await;
    assert_eq!(post(&format!("/settings/webhooks/{id}/delete"), &[]).await.0, 303);
    let listed: Value =
        app.request(Who::Admin, Method::GET, "/api/webhooks").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["webhooks"], json!([]));
}
