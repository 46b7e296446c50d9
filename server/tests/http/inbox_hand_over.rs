//! Handing an item over, snoozing it by the API, and the filter of the decided items.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
    inbox::{ask, reviewer},
    people::member_id,
    prepare::in_an_hour,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_hands_an_item_over_and_a_refused_one_keeps_what_was_typed() {
    let app = App::start();
    app.user("mia@acme.test", "member");
    let id = ask(&app, &[json!({ "message": "Which?" })]).await.remove(0);
    let mut ada = reviewer(&app).await;
    let path = format!("/inbox/{id}/hand-over");
    assert!(ada.page(&format!("/inbox/{id}")).await.contains(&format!("href=\"{path}\"")));
    let refused = ada.post(&path, &[("to", ""), ("note", "Please look.")]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    assert!(html.contains("choose a person or a group") && html.contains("\nPlease look.</textarea>"), "{html}");
    let [to, own] = ["mia@acme.test", "ada@acme.test"].map(|email| member_id(&app, email));
    let (to, own) = (format!("user:{}", to.await.unwrap()), format!("user:{}", own.await.unwrap()));
    assert!(html.contains(&format!("value=\"{to}\"")) && !html.contains(&format!("value=\"{own}\"")), "{html}");

    let api = format!("/api/approvals/{id}/hand-over");
    for wrong in [json!({ "to": "everyone" }), json!({ "to": own }), json!({ "to": "group:unknown" })] {
        let (status, refused) = problem(ada.call(Method::POST, &api).json(&wrong).send().await.unwrap()).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("to")), "{wrong}: {refused}");
    }
    let handed = ada.post(&path, &[("to", &to), ("note", "Please look.")]).await;
    assert_eq!(handed.status(), StatusCode::SEE_OTHER);
    assert_eq!(handed.headers()["location"], "/inbox?notice=handed_over");
    let again = ada.post(&path, &[("to", &to), ("note", "Please look.")]).await;
    assert_eq!(again.headers()["location"], "/inbox?notice=handed_over");
    let body = json!({ "to": to, "note": "Please look." });
    assert_eq!(ada.call(Method::POST, &api).json(&body).send().await.unwrap().status(), StatusCode::OK);
    let row = format!("data-id=\"{id}\"");
    assert!(!ada.page("/inbox").await.contains(&row), "it has left the list of the one who handed it over");
    let mia = Browser::of(&app, "mia@acme.test").await;
    let shown = mia.page("/inbox").await;
    assert!(shown.contains(&row) && shown.contains("Please look."), "{shown}");
    assert!(shown.contains("ada@acme.test to mia@acme.test, "), "{shown}");
    let read: Value =
        mia.call(Method::GET, &format!("/api/approvals/{id}")).send().await.unwrap().json().await.unwrap();
    assert_eq!(read["handovers"][0]["note"], "Please look.", "{read}");
    assert_eq!(read["handovers"].as_array().unwrap().len(), 1, "sent three times, recorded once: {read}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snooze_has_one_end_and_decided_items_are_filtered() {
    let app = App::start();
    let request = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    let items = ask(&app, &[json!({ "message": "Which?" }), json!({ "message": "When?" })]).await;
    let ada = reviewer(&app).await;
    let snooze = format!("/api/approvals/{}/snooze", items[0]);
    let mut both = in_an_hour();
    both["seconds"] = json!(600);
    let (status, refused) = problem(ada.call(Method::POST, &snooze).json(&both).send().await.unwrap()).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("until")), "{refused}");
    let snoozed = ada.call(Method::POST, &snooze).json(&in_an_hour()).send().await.unwrap();
    let snoozed: Value = snoozed.json().await.unwrap();
    assert!(snoozed["snoozedUntil"].is_string(), "{snoozed}");

    let decision = json!({ "decision": "deny", "note": "Not now" });
    let denied = ada.call(Method::POST, &format!("/api/approvals/{}/decision", items[1])).json(&decision);
    assert_eq!(denied.send().await.unwrap().status(), StatusCode::OK);
    let row = format!("data-id=\"{}\"", items[1]);
    let own = member_id(&app, "ada@acme.test").await.unwrap();
    let of_own = format!("&by={own}&outcome=denied");
    for query in ["", "&outcome=denied", "&since=2020-01-31", "&outcome=unknown&since=soon&by=x", &of_own] {
        let page = ada.page(&format!("/inbox?state=decided&assignedTo=all{query}")).await;
        assert!(page.contains(&row) && page.contains("Not now"), "{query}: {page}");
    }
    for query in ["&outcome=approved", "&outcome=rule", "&until=2020-01-31", "&agent=another"] {
        let page = ada.page(&format!("/inbox?state=decided&assignedTo=all{query}")).await;
        assert!(!page.contains(&row) && page.contains("Nothing was decided like this."), "{query}: {page}");
    }
}
