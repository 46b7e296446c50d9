//! The rating question after a session, answered in a browser without scripts.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person, ratings},
};
use reqwest::{Method, Response, StatusCode};
use serde_json::json;

const ASKED: &str = "Did this help?";

async fn page(browser: &Browser<'_>, id: &str) -> String {
    browser.page(&format!("/sessions/{id}")).await
}

async fn answer(browser: &mut Browser<'_>, id: &str, answer: &str) -> Response {
    let (path, label) = match answer {
        "undo" => ("/fn/session/undo-rating", ""),
        "dismiss" => ("/fn/session/dismiss-rating", ""),
        label => ("/fn/session/rate", label),
    };
    browser.post(path, &[("session_id", id), ("label", label), ("next", &format!("/sessions/{id}"))]).await
}

async fn completed(app: &App) -> String {
    let id = app.running(Who::Member).await;
    app.post(Who::Worker, &format!("/api/sessions/{id}/complete"), json!({ "attempt": 1 })).await;
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_once_after_the_end_and_takes_the_answer_back() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let mia = Browser::of(&app, "mia@acme.test").await;
    let id = app.running(Who::Member).await;
    assert!(!page(&ada, &id).await.contains(ASKED), "never while work goes on");
    let early = answer(&mut ada, &id, "positive").await;
    assert_eq!(early.status(), StatusCode::CONFLICT);
    assert!(early.text().await.unwrap().contains("<!DOCTYPE html>"));
    app.post(Who::Worker, &format!("/api/sessions/{id}/complete"), json!({ "attempt": 1 })).await;

    // An open page that reads its header again gets the question.
    let head = ada.ask(Method::GET, &format!("/sessions/{id}/summary"), &[]).await.text().await.unwrap();
    assert!(head.contains("data-rating=\"ask\""), "{head}");
    let asked = page(&ada, &id).await;
    assert!(asked.contains(ASKED), "{asked}");
    for key in ["helped", "unhelped", "unsaid", "unasked"] {
        assert!(asked.contains(&format!("data-key=\"{key}\"")), "{key}");
    }
    for (given, words, source) in [
        ("positive", "You said that this helped.", "web_end"),
        ("positive", "You said that this helped.", "web_end"),
        ("negative", "You said that this did not help.", "web_end"),
        ("skip", "You skipped the question.", "web_end"),
    ] {
        let answered = answer(&mut ada, &id, given).await;
        assert_eq!(answered.status(), StatusCode::SEE_OTHER);
        assert_eq!(answered.headers()["location"], format!("/sessions/{id}"));
        let shown = page(&ada, &id).await;
        assert!(
            shown.contains(words) && shown.contains("/fn/session/undo-rating") && !shown.contains(ASKED),
            "{given}"
        );
        let kept = ratings(&app, &id);
        assert_eq!((kept.len(), &kept[0]["label"], &kept[0]["source"]), (1, &json!(given), &json!(source)));
    }
    assert!(page(&mia, &id).await.contains(ASKED), "each person for themselves");
    for _ in 0..2 {
        assert_eq!(answer(&mut ada, &id, "undo").await.status(), StatusCode::SEE_OTHER);
        assert!(ratings(&app, &id).is_empty());
    }
    assert!(page(&ada, &id).await.contains(ASKED), "nothing is left of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dismissed_question_records_nothing_and_is_not_shown_again_to_that_person() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let (id, other) = (completed(&app).await, completed(&app).await);
    let dismissed = answer(&mut ada, &id, "dismiss").await;
    assert_eq!(dismissed.status(), StatusCode::SEE_OTHER);
    assert!(ratings(&app, &id).is_empty());
    assert!(!page(&ada, &id).await.contains(ASKED));
    assert!(page(&ada, &other).await.contains(ASKED), "one session is meant");
    // Another person who uses the same browser still gets the question.
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    mia.jar.extend(ada.jar.iter().skip(1).cloned());
    assert!(page(&mia, &id).await.contains(ASKED));
    // A person who dismissed the question can still rate, and sees the rating.
    answer(&mut ada, &id, "positive").await;
    assert!(page(&ada, &id).await.contains("You said that this helped."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_ratings_are_refused_and_the_question_is_only_shown_to_people_who_may_rate() {
    let app = App::start();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let id = completed(&app).await;
    for wrong in ["", "great", "Positive", "positive "] {
        let refused = answer(&mut ada, &id, wrong).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
        let shown = refused.text().await.unwrap();
        assert!(shown.contains("positive, negative or skip") && shown.contains(ASKED), "{wrong:?}");
    }
    assert!(ratings(&app, &id).is_empty());
    let nowhere = "00000000-0000-7000-8000-000000000000";
    for given in ["positive", "dismiss", "undo"] {
        assert_eq!(answer(&mut ada, nowhere, given).await.status(), StatusCode::NOT_FOUND, "{given}");
    }
    // A session that never ran cannot be rated.
    let new = json!({ "sessionType": "agent", "agentSlug": "nobody" });
    let never = app.post(Who::Operator, "/api/sessions", new).await["id"].as_str().unwrap().to_owned();
    app.post(Who::Operator, &format!("/api/sessions/{never}/cancel"), json!({})).await;
    assert!(!page(&ada, &never).await.contains(ASKED));
    // Another person's incognito conversation looks as if it did not exist.
    let new = json!({ "agent": "scout", "message": "Hello", "incognito": true });
    let theirs = app.post(Who::Operator, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    app.post(Who::Operator, &format!("/threads/{theirs}/end"), json!({})).await;
    assert_eq!(answer(&mut ada, &theirs, "positive").await.status(), StatusCode::NOT_FOUND);
}
