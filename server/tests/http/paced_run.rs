//! Sessions that are run again at a pace, without scripts: the form, the page of the run, and cancelling it.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn failed(app: &App, number: u32) -> String {
    let session = app.running(Who::Member).await;
    let failure = json!({ "attempt": 1, "error": { "message": format!("token {number} expired") } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/fail"), failure).await;
    session
}

/// The value of the option with this label, or of the hidden field before this text.
fn value_before(html: &str, text: &str) -> String {
    let (before, _) = html.split_once(text).unwrap_or_else(|| panic!("no {text} in {html}"));
    before.rsplit_once("value=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_run_again_at_a_pace_that_a_plain_form_chooses() {
    let app = App::start();
    let sessions = [failed(&app, 1).await, failed(&app, 2).await];
    let list = app.request(Who::Member, Method::GET, "/api/failure-causes?window=24h").send().await.unwrap();
    let list: Value = list.json().await.unwrap();
    let path = format!("/failures/{}/run-again", list["items"][0]["id"].as_str().unwrap());
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let items = sessions.clone().map(|session| format!("items[{session}]"));
    let chosen = [("which", "chosen"), (items[0].as_str(), "on"), (items[1].as_str(), "on")];
    let preview = ada.post(&path, &chosen).await.text().await.unwrap();
    assert!(preview.contains(">5 at a time<") && preview.contains(">Tomorrow, 9:00<"), "{preview}");
    let start = value_before(&preview, ">In 3 hours<");
    let (_, key) = preview.split_once("name=\"idempotencyKey\" value=\"").unwrap();
    let key = key.split_once('"').unwrap().0.to_owned();

    let pace = [("step", "run"), ("atATime", "1"), ("startAt", start.as_str()), ("idempotencyKey", key.as_str())];
    let run = [&chosen[..], &pace].concat();
    let mut addresses = Vec::new();
    for _ in 0..2 {
        let made = ada.post(&path, &run).await;
        assert_eq!(made.status(), StatusCode::SEE_OTHER);
        addresses.push(made.headers()["location"].to_str().unwrap().to_owned());
    }
    assert_eq!(addresses[0], addresses[1], "a form that is sent twice makes one run");
    let page = ada.page(&addresses[0]).await;
    assert!(page.contains("No session has begun yet.") && page.contains("http-equiv=\"refresh\""), "{page}");
    assert!(page.contains("At most 1 queued or running at a time") && page.contains("Waits for its turn"), "{page}");
    assert!(ada.page("/sessions/paced").await.contains(&format!("href=\"{}\"", addresses[0])));

    let id = addresses[0].strip_prefix("/sessions/paced/").unwrap();
    let read = app.request(Who::Operator, Method::GET, &format!("/api/paced-runs/{id}")).send().await.unwrap();
    let read: Value = read.json().await.unwrap();
    assert_eq!((&read["state"], &read["waiting"], &read["atATime"]), (&json!("open"), &json!(2), &json!(1)), "{read}");
    assert_eq!(read["sessions"][0]["sessionId"], sessions[0].as_str(), "{read}");
    let hidden = app.request(Who::Member, Method::GET, &format!("/api/paced-runs/{id}")).send().await.unwrap();
    assert_eq!(hidden.status(), StatusCode::NOT_FOUND, "it is someone else's");
    let cancelled = ada.post(&format!("{}/cancel", addresses[0]), &[]).await;
    assert_eq!(cancelled.headers()["location"], addresses[0].as_str());
    let page = ada.page(&addresses[0]).await;
    assert!(page.contains("Cancelled before its turn") && !page.contains("http-equiv=\"refresh\""), "{page}");

    let wrong = [&chosen[..], &[("step", "run"), ("atATime", "0")]].concat();
    let refused = ada.post(&path, &wrong).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text().await.unwrap().contains("1 to 500"));
    let other = json!({ "sessionIds": sessions, "idempotencyKey": key });
    let (status, refused) = problem(ada.call(Method::POST, "/api/paced-runs").json(&other).send().await.unwrap()).await;
    assert_eq!((status, &refused["code"]), (409, &json!("id_conflict")), "{refused}");
    // From the list of sessions the same form leads there too, and the server starts the first one within a second.
    let [first, second] = sessions.each_ref().map(|session| ("session", session.as_str()));
    let form = [("verb", "run_again"), first, second, ("step", "run"), ("atATime", "1")];
    let made = ada.post("/sessions/bulk", &form).await;
    let address = made.headers()["location"].to_str().unwrap().to_owned();
    let api = format!("/api{}", address.replace("/sessions/paced/", "/paced-runs/"));
    let mut running = json!(0);
    while running != json!(1) {
        let read = app.request(Who::Admin, Method::GET, &api).send().await.unwrap();
        running = read.json::<Value>().await.unwrap()["running"].clone();
    }
    assert!(ada.page(&address).await.contains(">Runs again<"));
}
