//! Encrypted outbound connections: the server connects to receivers whose certificate the system trusts, and to no
//! others.

use crate::{
    app::{App, Who},
    browser::Browser,
};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    receiver::Receiver,
    smtp::SmtpReceiver,
    tls::{Begin, TlsFront},
};

const SETTINGS: &str = "public_url = \"https://log.example.org\"\n[outbound]\nallow_private = [\"127.0.0.1\"]\n";

/// A server whose system trusts the certificate of this front and no other.
fn trusting(front: &TlsFront, settings: &str) -> App {
    App::start_with(&format!("{SETTINGS}{settings}"), &[], &[("SSL_CERT_FILE", front.certificate().to_str().unwrap())])
}

fn smtp(port: u16, tls: &str) -> String {
    format!("[smtp]\nhost = \"127.0.0.1\"\nport = {port}\ntls = \"{tls}\"\nfrom = \"Shiftbook <log@example.org>\"\n")
}

async fn hooked(app: &App, front: &TlsFront) -> String {
    let new = json!({ "url": format!("https://{}/hook", front.address), "events": ["session.failed"] });
    let made = app.post(Who::Admin, "/api/webhooks", new).await;
    let path = format!("/api/webhooks/{}", made["webhook"]["id"].as_str().unwrap());
    app.post(Who::Admin, &format!("{path}/test"), json!({})).await;
    path
}

/// An agent asks the admin a question, and the admin gets e-mail about questions.
async fn asks_the_admin(app: &App) {
    let mut ada = Browser::of(app, "ada@acme.test").await;
    let saved = ada.post("/settings/notifications", &[("email", "on")]).await;
    assert_eq!(saved.status(), 303);
    let new = json!({ "sessionType": "agent", "agentSlug": "asking" });
    let made = app.http.post(format!("{}/api/sessions", app.url)).header("cookie", &app.cookie().await);
    let made = made.header("origin", &app.url).json(&new).send().await.unwrap();
    let id = made.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["asking"] })).await;
    let yielded = json!({ "attempt": 1, "status": "waiting_human", "question": { "message": "Which?" } });
    app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), yielded).await;
}

#[tokio::test]
async fn a_webhook_arrives_over_https() {
    let receiver = Receiver::start().await;
    let front = TlsFront::start(receiver.address, Begin::AtOnce).await;
    let app = trusting(&front, "");
    hooked(&app, &front).await;
    let received = receiver.wait_for(1).await;
    assert_eq!(serde_json::from_str::<Value>(&received[0].body).unwrap()["type"], "webhook.test");
}

#[tokio::test]
async fn a_webhook_with_an_untrusted_certificate_gets_nothing_and_the_reason_is_shown() {
    let receiver = Receiver::start().await;
    let front = TlsFront::start(receiver.address, Begin::AtOnce).await;
    let other = TlsFront::start(receiver.address, Begin::AtOnce).await;
    let app = trusting(&front, "");
    let path = hooked(&app, &other).await;
    let error = loop {
        let list = app.request(Who::Admin, Method::GET, &format!("{path}/deliveries")).send().await.unwrap();
        let list: Value = list.json().await.unwrap();
        if let Some(error) = list["deliveries"][0]["lastError"].as_str() {
            break error.to_owned();
        }
        tokio::task::yield_now().await;
    };
    assert!(error.to_lowercase().contains("certificate"), "{error}");
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn e_mail_leaves_over_tls_from_the_start_and_after_starttls() {
    for (begin, tls) in [(Begin::AtOnce, "implicit"), (Begin::StartTls, "starttls")] {
        let receiver = SmtpReceiver::start().await;
        let front = TlsFront::start(receiver.address, begin).await;
        let app = trusting(&front, &smtp(front.address.port(), tls));
        asks_the_admin(&app).await;
        let mail = receiver.wait().await;
        assert_eq!(mail.to, "ada@acme.test");
        assert!(mail.text.contains("https://log.example.org/inbox/"), "{}", mail.text);
    }
}

#[tokio::test]
async fn no_e_mail_leaves_in_the_clear_where_starttls_was_asked_for() {
    // This receiver does not offer STARTTLS.
    let plain = SmtpReceiver::start().await;
    let front = TlsFront::start(plain.address, Begin::AtOnce).await;
    let app = trusting(&front, &smtp(plain.address.port(), "starttls"));
    asks_the_admin(&app).await;
    app.until_logged(0, "a message was not delivered").await;
    assert!(plain.mails().is_empty());
}
