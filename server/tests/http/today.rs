//! `/today` over HTTP: whose work it shows, its open questions, and the warning of a trigger whose session no worker
//! claims.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person, shown_at},
};
use reqwest::{
    Method,
    header::{COOKIE, SET_COOKIE},
};
use serde_json::{Value, json};

/// A failed session of an action without an assignee.
async fn failed_unassigned(app: &App) {
    let action = json!({ "name": "Look", "slug": "look", "agentSlug": "scout" });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let triggered = app.post(Who::Member, &trigger, json!({})).await;
    assert_eq!(triggered["warnings"], json!([]));
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    let fail = format!("/api/sessions/{}/fail", triggered["id"].as_str().unwrap());
    app.post(Who::Worker, &fail, json!({ "attempt": 1, "error": { "message": "No such supplier." } })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn today_shows_mine_or_everyones_and_says_which_and_the_browser_remembers() {
    let app = App::start();
    failed_unassigned(&app).await;
    let cookie = app.cookie().await;
    let page = async |query: &str, more: &str| {
        let request = app.http.get(format!("{}/today{query}", app.url)).header(COOKIE, format!("{cookie}{more}"));
        let response = request.send().await.unwrap();
        let set = response.headers().get(SET_COOKIE).map(|set| set.to_str().unwrap().to_owned());
        (response.text().await.unwrap(), set)
    };
    let (mine, set) = page("", "").await;
    assert!(mine.contains("Your tasks, and everything that needs your decision."), "{mine}");
    assert!(mine.contains("1 failure belongs to no one") || mine.contains("failures belong to no one"));
    assert!(!mine.contains("No such supplier.") && set.is_none());
    let (all, set) = page("?assignedTo=all&bucket=failed", "").await;
    assert!(all.contains("Everyone's tasks, including tasks that are assigned to no one."), "{all}");
    assert!(all.contains("No such supplier.") && all.contains("Needs someone"), "{all}");
    assert!(all.contains("href=\"/today?assignedTo=me&amp;bucket=failed\""), "{all}");
    let set = set.unwrap();
    assert!(set.starts_with("today=all; Path=/today;"), "{set}");
    // A visit without the parameter uses the cookie. The parameter takes precedence over it.
    assert!(page("", "; today=all").await.0.contains("No such supplier."));
    let (mine, set) = page("?assignedTo=me", "; today=all").await;
    assert!(!mine.contains("No such supplier.") && set.unwrap().starts_with("today=me;"));

    let counts = async |who, query: &str| {
        let path = format!("/api/today/work-queue-counts{query}");
        app.request(who, Method::GET, &path).send().await.unwrap().json::<Value>().await.unwrap()["failed"].clone()
    };
    assert_eq!((counts(Who::Admin, "").await, counts(Who::Admin, "?assignedTo=all").await), (json!(0), json!(1)));
    assert_eq!(counts(Who::Worker, "?assignedTo=all").await, json!(1));
    assert_eq!(counts(Who::Stranger, "?assignedTo=all").await, json!(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fragment_of_open_questions_has_those_that_wait_for_an_answer_and_is_hidden_without_any() {
    let app = App::start();
    let cookie = app.cookie().await;
    let questions = async || {
        let request = app.http.get(format!("{}/today/questions", app.url)).header(COOKIE, &cookie);
        request.send().await.unwrap().error_for_status().unwrap().text().await.unwrap()
    };
    let none = questions().await;
    assert!(none.contains("<section") && none.contains(" hidden") && !none.contains("<li"), "{none}");

    let action = json!({ "name": "Ask", "slug": "ask", "agentSlug": "scout" });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let session = app.post(Who::Member, &trigger, json!({})).await["id"].as_str().unwrap().to_owned();
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    let fields = json!([{ "key": "where", "label": "Where?", "type": "short_text", "required": true }]);
    let asks = json!({
        "attempt": 1, "message": "Where <b>first</b>?", "blocking": false, "idempotencyKey": "k", "fields": fields,
    });
    let asked = app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), asks).await;
    let id = asked["request"]["id"].as_str().unwrap();
    let one = questions().await;
    assert!(one.contains(&format!("data-key-id=\"{id}\"")) && one.contains("&lt;b&gt;first"), "{one}");
    assert!(one.contains(&format!("href=\"/inbox/{id}\"")) && !one.contains(" hidden"), "{one}");

    let answer = json!({ "content": { "where": "Here" } });
    app.post(Who::Operator, &format!("/api/feedback-requests/{id}/answer"), answer).await;
    let none = questions().await;
    assert!(none.contains(" hidden") && !none.contains("<li"), "{none}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_without_an_agent_says_that_workers_which_name_agents_do_not_take_it() {
    let app = App::start();
    let action = app.post(Who::Operator, "/api/actions", json!({ "name": "Look", "slug": "look" })).await;
    let id = action["id"].as_str().unwrap();
    let triggered = app.post(Who::Member, &format!("/api/actions/{id}/trigger"), json!({})).await;
    assert_eq!(triggered["warnings"][0]["code"], "no_agent");
    assert_eq!((&triggered["status"], &triggered["agentSlug"]), (&json!("pending"), &Value::Null));
    let cookie = app.cookie().await;
    let read = async |path: &str| {
        let page = app.http.get(format!("{}{path}", app.url)).header(COOKIE, &cookie).send().await.unwrap();
        page.text().await.unwrap()
    };
    let page = read(&format!("/actions/{id}")).await;
    let next = "/sessions/{id}?notice=triggered_unclaimed";
    assert!(page.contains(&format!("name=\"next\" value=\"{next}\"")), "{page}");
    let request = app.http.post(format!("{}/fn/action/trigger", app.url)).header(COOKIE, &cookie);
    let request = request.header("origin", &app.url).header("accept", "text/html");
    let sent = request.form(&[("action_id", id), ("input", ""), ("next", next)]).send().await.unwrap();
    let to = sent.headers()["location"].to_str().unwrap().to_owned();
    assert!(to.ends_with("?notice=triggered_unclaimed"), "{to}");
    let html = read(&to).await;
    assert!(html.contains("This task names no agent. Only a worker") && html.contains("data-tone=\"wait\""), "{html}");
}

#[tokio::test]
async fn today_waits_for_an_agent_once_its_token_is_made_and_says_when_the_token_was_used() {
    let app = App::start();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let connection = async |browser: &Browser<'_>| browser.page("/today/connection").await;
    assert!(connection(&ada).await.contains("data-connection=\"\""), "no token was made");
    let name = ("name", "scout (worker)");
    let form = [name, ("scope", "worker"), ("role", "operator"), ("next", "/today")];
    let shown = shown_at(&ada.post("/settings/tokens", &form).await, "/today", "");
    let page = ada.page(&shown).await;
    let (_, token) = page.split_once("SHIFTBOOK_TOKEN=").unwrap_or_else(|| panic!("{page}"));
    let token: String = token.chars().take_while(|&c| c.is_ascii_alphanumeric() || "_-".contains(c)).collect();
    assert!(page.contains("--agent scout") && page.contains("Waiting for scout…"), "{page}");
    assert!(connection(&ada).await.contains("data-connection=\"waiting\""));

    let claim = app.http.post(format!("{}/api/sessions/claim", app.url)).bearer_auth(&token);
    let claimed = claim.json(&json!({ "agentSlugs": ["scout"] })).send().await.unwrap();
    assert!(claimed.status().is_success(), "{}", claimed.text().await.unwrap());
    let now = connection(&ada).await;
    assert!(now.contains("data-connection=\"connected\"") && now.contains("scout is connected."), "{now}");
    // A member, who sees only their own tokens, sees nothing of this one.
    add_person(&app, "mia@acme.test");
    let mia = Browser::of(&app, "mia@acme.test").await;
    assert!(connection(&mia).await.contains("data-connection=\"\""));
}

#[tokio::test]
async fn today_shows_how_far_the_worker_of_the_present_attempt_is() {
    let app = App::start();
    let made = json!({ "sessionType": "agent", "agentSlug": "scout" });
    let session = app.post(Who::Operator, "/api/sessions", made).await["id"].as_str().unwrap().to_owned();
    let claim = json!({ "agentSlugs": ["scout"], "leaseSeconds": 3600 });
    app.post(Who::Worker, "/api/sessions/claim", claim.clone()).await;
    let report = async |attempt: u32, done: u32| {
        let report = json!({ "attempt": attempt, "done": done, "total": 10, "note": "reading" });
        let path = format!("/api/sessions/{session}/progress");
        let sent = app.request(Who::Worker, Method::POST, &path).json(&report).send().await.unwrap();
        assert!(sent.status().is_success(), "{}", sent.status());
    };
    let ada = Browser::of(&app, "ada@acme.test").await;
    let running = async || ada.page("/today/section/running?assignedTo=all").await;
    report(1, 7).await;
    let shown = running().await;
    assert!(shown.contains(&session) && shown.contains("7/10 reading"), "{shown}");
    app.post(Who::Worker, &format!("/api/sessions/{session}/release"), json!({ "attempt": 1 })).await;
    app.post(Who::Worker, "/api/sessions/claim", claim).await;
    let shown = running().await;
    assert!(shown.contains(&session) && !shown.contains("7/10"), "what the earlier worker reported: {shown}");
    report(2, 1).await;
    assert!(running().await.contains("1/10 reading"));
}
