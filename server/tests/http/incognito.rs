//! Incognito over HTTP: every path of a conversation answers other callers as if it did not exist.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn status(app: &App, who: Who, method: Method, path: &str, body: Option<&Value>) -> StatusCode {
    let mut request = app.request(who, method, path);
    if let Some(body) = body {
        request = request.json(body);
    }
    request.send().await.unwrap().status()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_address_of_an_incognito_conversation_is_its_persons_alone() {
    let app = App::start();
    let new = json!({ "agent": "scout", "message": "A secret", "incognito": true });
    let id = app.post(Who::Member, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
    let reads = [
        format!("/api/sessions/{id}"),
        format!("/api/sessions/{id}/events"),
        format!("/api/sessions/{id}/events/stream"),
        format!("/api/sessions/{id}/events.jsonl"),
        format!("/api/sessions/{id}/events.jsonl?follow=true"),
        format!("/api/threads/{id}"),
        format!("/api/memory/status?thread_id={id}"),
        format!("/api/sessions/{id}/feedback"),
    ];
    let writes = [
        (Method::POST, format!("/api/sessions/{id}/cancel"), json!({})),
        (Method::POST, format!("/api/sessions/{id}/retry"), json!({})),
        (Method::POST, format!("/api/threads/{id}/messages"), json!({ "text": "Who is there?" })),
        (Method::POST, format!("/api/threads/{id}/interrupt"), json!({})),
        (Method::POST, format!("/threads/{id}/end"), json!({})),
        (Method::POST, "/api/sessions".to_owned(), json!({ "sessionType": "tool", "parentId": id })),
    ];
    for who in [Who::OtherMember, Who::Reviewer, Who::Operator, Who::Admin, Who::Stranger] {
        for path in &reads {
            assert_eq!(status(&app, who, Method::GET, path, None).await, StatusCode::NOT_FOUND, "{who:?} {path}");
        }
        for (method, path, body) in &writes {
            let refused = status(&app, who, method.clone(), path, Some(body)).await;
            assert_eq!(refused, StatusCode::NOT_FOUND, "{who:?} {path}");
        }
        for path in ["/api/sessions", "/api/sessions?q=scout", "/api/threads", "/api/failures"] {
            let listed = app.request(who, Method::GET, path).send().await.unwrap().text().await.unwrap();
            assert!(!listed.contains(&id), "{who:?} {path}: {listed}");
        }
        let children = format!("/api/sessions?parentId={id}");
        let listed: Value = app.request(who, Method::GET, &children).send().await.unwrap().json().await.unwrap();
        assert_eq!(listed["items"], json!([]), "{who:?}");
    }
    for path in &reads[..2] {
        assert_eq!(status(&app, Who::Member, Method::GET, path, None).await, StatusCode::OK, "{path}");
    }
    // A worker that has not claimed the session has no access to it.
    assert_eq!(status(&app, Who::Worker, Method::GET, &reads[0], None).await, StatusCode::NOT_FOUND);
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    assert_eq!(status(&app, Who::Worker, Method::GET, &reads[0], None).await, StatusCode::OK);
    // A question has no page for members.
    let ask = json!({ "attempt": 1, "message": "Which?", "blocking": false, "idempotencyKey": "k" });
    let asked = app.post(Who::Worker, &format!("/api/sessions/{id}/feedback-requests"), ask).await;
    assert_eq!((&asked["url"], &asked["request"]["state"]), (&Value::Null, &json!("waiting")), "{asked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_hide_it_from_others_and_say_what_it_means_before_the_first_message() {
    let app = App::start();
    add_person(&app, "bob@acme.test");
    let (mut ada, bob) = (Browser::of(&app, "ada@acme.test").await, Browser::of(&app, "bob@acme.test").await);
    app.post(Who::Operator, "/api/actions", json!({ "name": "Scout", "agentSlug": "scout" })).await;
    let hint = "Only you can see this conversation. Other people in the workspace";
    assert!(ada.page("/chat").await.contains(hint));
    let form = [("agent", "scout"), ("message", "A secret"), ("incognito", "true")];
    let begun = ada.start_chat(&form).await;
    let path = begun.headers()["location"].to_str().unwrap().to_owned();
    let id = path.rsplit('/').next().unwrap().to_owned();
    assert!(ada.page(&path).await.contains("A secret"));
    for path in [format!("/chat/{id}"), format!("/sessions/{id}"), format!("/sessions/{id}/rows?afterSequence=0")] {
        assert_eq!(bob.ask(Method::GET, &path, &[]).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let of_everyone = "/today?assignedTo=all&bucket=running";
    for path in ["/sessions", "/sessions?q=scout", "/chat", "/today", of_everyone, "/insights"] {
        assert!(!bob.page(path).await.contains(&id), "{path}");
    }
    assert!(ada.page("/sessions").await.contains(&id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reviewers_open_its_approvals_and_are_told_nothing_of_its_questions() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let waiting = async |yields: Value| {
        let new = json!({ "agent": "scout", "message": "A secret", "incognito": true });
        let id = app.post(Who::Member, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
        app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
        app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), yields).await;
        id
    };
    let question = json!({ "message": "Which secret?" });
    let asking = waiting(json!({ "attempt": 1, "status": "waiting_human", "question": question })).await;
    let notice = ada.ask(Method::GET, &format!("/inbox/waiting/{asking}"), &[]).await;
    assert_eq!(notice.status(), StatusCode::NOT_FOUND);
    let call = json!({ "toolCallId": "c1", "toolName": "send_mail", "toolInput": { "to": "ada@acme.test" } });
    let calling = waiting(json!({ "attempt": 1, "status": "awaiting_tool", "pausedToolCall": call })).await;
    let open = app.request(Who::Admin, Method::GET, "/api/approvals").send().await.unwrap();
    let open: Value = open.json().await.unwrap();
    let item = open["items"][0]["id"].as_str().unwrap();
    assert_eq!(open["items"].as_array().unwrap().len(), 1, "{open}");
    for path in ["/inbox".to_owned(), format!("/inbox/{item}")] {
        let page = ada.page(&path).await;
        assert!(page.contains("send_mail") && page.contains("ada@acme.test"), "{path}: {page}");
        assert!(!page.contains("A secret"), "{path}: {page}");
        // The page of the session would be that of one that does not exist.
        let leads_there = page.contains(&format!("/sessions/{calling}"));
        assert!(page.contains("This session is private") && !leads_there, "{path}: {page}");
    }
}

/// The live stream does not name sessions that its reader may not know of.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_live_stream_of_others_does_not_name_it() {
    let app = App::start();
    let mut stream = app.request(Who::Operator, Method::GET, "/api/live").send().await.unwrap();
    let first = stream.chunk().await.unwrap().unwrap();
    let new = |incognito: bool| json!({ "agent": "scout", "message": "Hello", "incognito": incognito });
    let id = async |incognito| {
        app.post(Who::Member, "/api/threads", new(incognito)).await["id"].as_str().unwrap().to_owned()
    };
    let (hidden, shown) = (id(true).await, id(false).await);
    let mut received = String::from_utf8_lossy(&first).into_owned();
    while !received.contains(&shown) {
        let chunk = stream.chunk().await.unwrap().expect("the stream goes on");
        received.push_str(&String::from_utf8_lossy(&chunk));
    }
    assert!(!received.contains(&hidden), "{received}");
}
