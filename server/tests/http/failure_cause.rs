//! `/failures` and `/api/failure-causes` over HTTP, without scripts: the list, decisions, and running sessions again.

use crate::{
    app::{App, Who},
    browser::Browser,
};
use reqwest::Method;
use serde_json::{Value, json};

/// A failed session that a member started.
async fn failed(app: &App, message: &str) -> String {
    let session = app.running(Who::Member).await;
    let failure = json!({ "attempt": 1, "error": { "message": message, "code": "auth" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/fail"), failure).await;
    session
}

async fn causes(app: &App, who: Who, query: &str) -> Value {
    let request = app.request(who, Method::GET, &format!("/api/failure-causes{query}"));
    request.send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_causes_that_people_decide_about_with_plain_forms() {
    let app = App::start();
    let mut sessions = Vec::new();
    for number in [1, 2, 7] {
        sessions.push(failed(&app, &format!("token {number} <b>expired</b>")).await);
    }
    let found = causes(&app, Who::Member, "?window=24h").await;
    let cause = &found["items"][0];
    let id = cause["id"].as_str().unwrap();
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!((&cause["failures"], &cause["code"], &cause["state"]), (&json!(3), &json!("auth"), &json!("open")));
    assert_eq!(cause["message"], "token ‹number› <b>expired</b>");
    assert!(found["isComplete"].is_boolean() && found["groupedPercent"].as_u64().unwrap() <= 100, "{found}");

    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let list = ada.page("/failures").await;
    assert!(list.contains("token ‹number› &lt;b&gt;expired") && !list.contains("<b>expired"), "{list}");
    assert!(list.contains(&format!("href=\"/failures/{id}?window=visit\"")), "{list}");
    for (window, label) in
        [("visit", "Since your last visit"), ("24h", "24 hours"), ("weekend", "Weekend"), ("7d", "7 days")]
    {
        assert!(list.contains(label) && list.contains(&format!("window={window}&amp;state=open")), "{window}: {list}");
    }
    // Each failed session leads to the others.
    let session = ada.page(&format!("/sessions/{}", sessions[0])).await;
    assert!(session.contains("2 more like this") && session.contains(&format!("/failures/{id}")), "{session}");
    let today = ada.page("/today?assignedTo=all&bucket=failed").await;
    assert!(today.contains("href=\"/failures?window=24h"), "{today}");

    let decision = format!("/failures/{id}/decision");
    let decided = ada.post(&decision, &[("decision", "acknowledge"), ("next", "/failures?window=7d&state=open")]).await;
    assert_eq!(decided.headers()["location"], "/failures?window=7d&state=open&notice=cause_seen");
    let list = ada.page("/failures?window=7d&state=open&notice=cause_seen").await;
    assert!(list.contains("Marked as seen.") && list.contains("Nothing open has failed in this time."), "{list}");
    assert_eq!(causes(&app, Who::Member, "?window=24h&state=acknowledged").await["items"][0]["id"], id);
    let elsewhere = ada.post(&decision, &[("decision", "reopen"), ("next", "https://example.org/")]).await;
    assert_eq!(elsewhere.headers()["location"], "/today?notice=cause_reopened", "only own pages are led to");

    let refused = ada.post(&decision, &[("decision", "snooze"), ("until", "day"), ("day", "soon")]).await;
    assert_eq!(refused.status(), 422);
    let page = refused.text().await.unwrap();
    assert!(page.contains("enter a day that exists") && page.contains("token ‹number›"), "{page}");
    let snoozed = ada.post(&decision, &[("decision", "snooze"), ("until", "tomorrow"), ("next", "/failures")]).await;
    assert_eq!(snoozed.headers()["location"], "/failures?notice=cause_snoozed");
    let snoozed = &causes(&app, Who::Member, "?window=24h").await["items"][0];
    assert!(snoozed["state"] == "snoozed" && snoozed["snoozedUntil"].is_string(), "{snoozed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_a_cause_are_run_again_after_a_preview() {
    let app = App::start();
    let mut sessions = Vec::new();
    for number in [1, 2, 3] {
        sessions.push(failed(&app, &format!("token {number} expired")).await);
    }
    let found = causes(&app, Who::Member, "?window=24h").await;
    let id = found["items"][0]["id"].as_str().unwrap();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page(&format!("/failures/{id}?window=24h")).await;
    for session in &sessions {
        assert!(page.contains(&format!("name=\"items[{session}]\"")), "{page}");
    }
    let path = format!("/failures/{id}/run-again");
    let item = format!("items[{}]", sessions[1]);
    let chosen = [("which", "chosen"), (item.as_str(), "on")];
    let preview = ada.post(&path, &chosen).await.text().await.unwrap();
    assert!(preview.contains("1 session would run again as a new session."), "{preview}");
    assert!(preview.contains("Run 1 again") && preview.contains(&format!("name=\"{item}\"")), "{preview}");
    let run = [&chosen[..], &[("step", "run")]].concat();
    // The answer is the address of the result, so that loading it again asks for nothing.
    let repeat = ("1 was run again before.", "Was run again before");
    for (sentence, row) in [("1 session runs again.", "Runs again"), repeat] {
        let ran = ada.post(&path, &run).await;
        assert_eq!(ran.status(), 303);
        let address = ran.headers()["location"].to_str().unwrap().to_owned();
        for _ in 0..2 {
            let page = ada.page(&address).await;
            assert!(page.contains(sentence) && page.contains(&format!(">{row}<")), "{page}");
        }
    }
    let nothing = ada.ask(Method::GET, &path, &[]).await;
    assert_eq!(nothing.headers()["location"], format!("/failures/{id}"), "an address that names no session");
    // What is confirmed is what was shown, so a form that is sent twice starts no other session.
    let hidden = |name: &str| {
        let (_, after) = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        after.split_once('"').unwrap().0.to_owned()
    };
    let (since, until) = (hidden("since"), hidden("until"));
    let oldest = [("which", "all"), ("limit", "1"), ("since", since.as_str()), ("until", until.as_str())];
    let preview = ada.post(&path, &oldest).await.text().await.unwrap();
    assert!(preview.contains("name=\"which\" value=\"chosen\""), "{preview}");
    assert_eq!(preview.matches("name=\"items[").count(), 1, "{preview}");
    assert!(
        preview.contains(&format!("name=\"items[{}]\"", sessions[0])) && !preview.contains("name=\"limit\""),
        "{preview}"
    );
    let none = ada.post(&path, &[("which", "chosen")]).await;
    assert_eq!(none.status(), 422);
    assert!(none.text().await.unwrap().contains("select at least one session"));

    let page = ada.page(&format!("/failures/{id}?window=24h")).await;
    assert!(page.contains("was run again"), "{page}");
    // The API goes on with those that are left.
    let all = json!({ "window": "24h", "limit": 1 });
    let path = format!("/api/failure-causes/{id}/run-again");
    let preview = json!({ "window": "24h", "limit": 1, "preview": true });
    let preview = app.post(Who::Operator, &path, preview).await;
    assert_eq!((&preview["ready"], &preview["started"], &preview["hasMore"]), (&json!(1), &json!(0), &json!(true)));
    for (started, has_more) in [(1, true), (1, false), (0, false)] {
        let ran = app.post(Who::Operator, &path, all.clone()).await;
        assert_eq!((&ran["started"], &ran["hasMore"]), (&json!(started), &json!(has_more)), "{ran}");
    }
    let both = json!({ "sessionIds": [sessions[0]], "window": "24h" });
    for wrong in [both, json!({}), json!({ "preview": true }), json!({ "limit": 1 })] {
        let refused = app.request(Who::Operator, Method::POST, &path).json(&wrong).send().await.unwrap();
        assert_eq!(refused.status(), 422, "{wrong}");
    }
    let strange = app.request(Who::Stranger, Method::POST, &path).json(&all).send().await.unwrap();
    assert_eq!(strange.status(), 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_causes_are_decided_at_once_and_a_refusal_keeps_the_selection() {
    let app = App::start();
    for message in ["the disk is full", "the token is expired", "the host is unknown"] {
        failed(&app, message).await;
    }
    let found = causes(&app, Who::Member, "?window=24h").await;
    let ids: Vec<&str> = found["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let list = ada.page("/failures?window=24h&state=open").await;
    for id in &ids {
        assert!(list.contains(&format!("form=\"causes\" name=\"cause\" value=\"{id}\"")), "{list}");
    }
    let back = [("next", "/failures?window=24h&state=open"), ("window", "24h"), ("state", "open")];
    let two = [("cause", ids[0]), ("cause", ids[2])];
    let snooze = [&back[..], &two, &[("decision", "snooze"), ("until", "day"), ("day", "soon")]].concat();
    let refused = ada.post("/failures/decisions", &snooze).await;
    assert_eq!(refused.status(), 422);
    let page = refused.text().await.unwrap();
    assert!(page.contains("enter a day that exists") && page.contains("value=\"soon\""), "{page}");
    for (id, is_ticked) in [(ids[0], true), (ids[1], false), (ids[2], true)] {
        assert_eq!(page.contains(&format!("name=\"cause\" value=\"{id}\" checked")), is_ticked, "{page}");
    }
    let none = [&back[..], &[("decision", "resolve")]].concat();
    let none = ada.post("/failures/decisions", &none).await;
    assert_eq!(none.status(), 422);
    assert!(none.text().await.unwrap().contains("Select at least one cause."));

    let seen = [&back[..], &two, &[("decision", "acknowledge")]].concat();
    for _ in 0..2 {
        let decided = ada.post("/failures/decisions", &seen).await;
        let to = decided.headers()["location"].to_str().unwrap().to_owned();
        assert!(to.starts_with("/failures?window=24h&state=open&undo="), "{to}");
        assert!(to.ends_with("&notice=causes_decided"), "{to}");
        let page = ada.page(&to).await;
        let form = page.split_once(">Undo<").unwrap().0.rsplit_once("<form").unwrap().1;
        for (id, is_undone) in [(ids[0], true), (ids[1], false), (ids[2], true)] {
            assert_eq!(form.contains(&format!("name=\"cause\" value=\"{id}\"")), is_undone, "{form}");
        }
        assert!(form.contains("value=\"reopen\""), "{form}");
    }
    // All of the list are the one that is left, whatever is ticked.
    let all = [&back[..], &[("all", "on"), ("cause", ids[0]), ("decision", "resolve")]].concat();
    ada.post("/failures/decisions", &all).await;
    let resolved = causes(&app, Who::Member, "?window=24h&state=resolved").await;
    assert_eq!((resolved["items"].as_array().unwrap().len(), &resolved["items"][0]["id"]), (1, &json!(ids[1])));
    let nothing = ada.post("/failures/decisions", &all).await;
    assert_eq!(nothing.status(), 422);
    ada.post("/failures/decisions", &[("cause", ids[1]), ("decision", "reopen")]).await;
    // Of what was not open before, opening again would be no undo.
    let closed = [("next", "/failures?window=24h&state=all"), ("state", "all"), ("decision", "resolve")];
    let decided = ada.post("/failures/decisions", &[&closed[..], &[("cause", ids[0])]].concat()).await;
    assert_eq!(decided.headers()["location"], "/failures?window=24h&state=all&notice=causes_decided");
    let garbage = ada.page("/failures?window=24h&state=open&undo=%21").await;
    assert!(!garbage.contains(">Undo<"), "{garbage}");
    let left = causes(&app, Who::Member, "?window=24h&state=open").await;
    assert_eq!((left["items"].as_array().unwrap().len(), &left["items"][0]["id"]), (1, &json!(ids[1])));
    // One that is not there costs nothing but itself; opening again undoes the decision.
    let missing = "00000000-0000-8000-8000-000000000000";
    let reopen = [&back[..], &two, &[("cause", missing), ("decision", "reopen")]].concat();
    let decided = ada.post("/failures/decisions", &reopen).await;
    assert_eq!(decided.headers()["location"], "/failures?window=24h&state=open&notice=causes_missing");
    assert_eq!(causes(&app, Who::Member, "?window=24h&state=open").await["items"].as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_failures_of_several_causes_run_again_after_one_preview() {
    let app = App::start();
    for message in ["token 1 expired", "token 2 expired", "the disk is full", "the host is unknown"] {
        failed(&app, message).await;
    }
    let found = causes(&app, Who::Member, "?window=24h").await;
    let items = found["items"].as_array().unwrap();
    let id_of = |message: &str| {
        let cause = items.iter().find(|item| item["message"].as_str().unwrap().starts_with(message)).unwrap();
        cause["id"].as_str().unwrap()
    };
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let list = ada.page("/failures?window=24h&state=open").await;
    assert!(list.contains("name=\"decision\" value=\"run_again\"") && list.contains("data-list-key=\"R\""), "{list}");
    let back = [("next", "/failures?window=24h&state=open"), ("window", "24h"), ("state", "open")];
    let chosen = [("cause", id_of("token")), ("cause", id_of("the disk")), ("decision", "run_again")];
    let preview = ada.post("/failures/decisions", &[&back[..], &chosen].concat()).await;
    assert_eq!(preview.status(), 200);
    let page = preview.text().await.unwrap();
    assert!(page.contains("3 sessions of 2 causes would run again as new sessions."), "{page}");
    assert!(page.contains("Run 3 again") && page.contains("name=\"atATime\""), "{page}");
    assert!(page.contains("the disk is full") && !page.contains("the host is unknown"), "{page}");
    // The form is the one of bulk changes, with the sessions that were counted.
    let fields = page.split("name=\"session\" value=\"").skip(1);
    let sessions: Vec<&str> = fields.map(|rest| rest.split_once('"').unwrap().0).collect();
    assert_eq!(sessions.len(), 3, "{page}");
    let mut run = vec![("verb", "run_again"), ("next", "/failures?window=24h&state=open"), ("step", "run")];
    run.extend(sessions.iter().map(|session| ("session", *session)));
    let paced = [&run[..], &[("atATime", "1"), ("idempotencyKey", "once")]].concat();
    let made = ada.post("/sessions/bulk", &paced).await;
    assert!(made.headers()["location"].to_str().unwrap().starts_with("/sessions/paced/"), "one paced run");
    let all = [&back[..], &[("all", "on"), ("decision", "run_again")]].concat();
    let page = ada.post("/failures/decisions", &all).await.text().await.unwrap();
    assert!(page.contains("of 3 causes would run again") && page.contains("the host is unknown"), "{page}");
    let none = ada.post("/failures/decisions", &[&back[..], &[("decision", "run_again")]].concat()).await;
    assert_eq!(none.status(), 422);
    assert!(none.text().await.unwrap().contains("Select at least one cause."));
}
