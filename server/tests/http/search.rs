//! The search over events: over the API, on its page, in the palette and by command.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, add_person},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// A running session with these messages of its agent. Returns its id.
async fn session_with(app: &App, messages: &[&str]) -> String {
    let session = app.running(Who::Operator).await;
    let message = |text: &&str| json!({ "type": "agent.message", "content": [{ "type": "text", "text": text }] });
    let events: Vec<Value> = messages.iter().map(message).collect();
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), json!({ "attempt": 1, "events": events })).await;
    session
}

async fn search(app: &App, who: Who, query: &str) -> Value {
    let answer = app.request(who, Method::GET, &format!("/api/search?{query}")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{query}");
    answer.json().await.unwrap()
}

/// Searches until the events are found: a job of the server makes them searchable.
async fn found(app: &App, query: &str, sessions: usize) -> Value {
    loop {
        let found = search(app, Who::Member, query).await;
        if found["items"].as_array().unwrap().len() >= sessions && !found["indexedUntil"].is_null() {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn events_are_found_by_members_and_workers_of_their_workspace() {
    let app = App::start();
    let session = session_with(&app, &["Refunded the customer <b>twice</b>", "nothing"]).await;
    let page = found(&app, "q=refund", 1).await;
    let item = &page["items"][0];
    assert_eq!(
        (&item["sessionId"], &item["status"], &item["moreEvents"]),
        (&json!(session), &json!("running"), &json!(0))
    );
    let event = &item["events"][0];
    assert_eq!(event["eventType"], "agent.message");
    assert_eq!(event["snippet"][0], json!({ "text": "Refunded", "isMarked": true }));
    assert_eq!((&page["nextCursor"], item["events"].as_array().unwrap().len()), (&Value::Null, 1));
    for (who, items) in [(Who::Worker, 1), (Who::Reviewer, 1), (Who::Admin, 1), (Who::Stranger, 0)] {
        assert_eq!(search(&app, who, "q=refund").await["items"].as_array().unwrap().len(), items, "{who:?}");
    }
    assert!(search(&app, Who::Member, "q=refund&status=failed").await["items"].as_array().unwrap().is_empty());
    assert!(
        search(&app, Who::Member, "q=refund&before=2020-01-01T00:00:00Z").await["items"].as_array().unwrap().is_empty()
    );
    let metrics = app.request(Who::Anonymous, Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let lag = metrics.lines().find_map(|line| line.strip_prefix("shiftbook_search_lag_seconds ")).unwrap();
    assert!(lag.parse::<f64>().unwrap() >= 0.0, "{lag}");
}

#[tokio::test]
async fn what_is_no_search_is_refused_by_its_place() {
    let app = App::start();
    for (query, parts) in [
        ("", &["`q`"][..]),
        ("q=", &["name at least one word"]),
        ("q=ab+%22cd", &["the quotation mark at character 4"]),
        ("q=tea&agent=No+Slug", &["agent"]),
        ("q=tea&status=done", &["status"]),
        ("q=tea&after=yesterday", &["after"]),
        ("q=tea&cursor=x", &["cursor"]),
        ("q=tea&limit=5", &["limit", "`q`", "`agent`", "`status`", "`after`", "`before`", "`cursor`"]),
    ] {
        let answer = app.request(Who::Member, Method::GET, &format!("/api/search?{query}")).send().await.unwrap();
        let (status, problem) = problem(answer).await;
        assert!(status == 422 || (status == 400 && query.contains("cursor")), "{query}: {status} {problem}");
        for part in parts {
            assert!(problem.to_string().contains(part), "{query}: {problem}");
        }
    }
}

#[tokio::test]
async fn the_page_shows_what_was_found_as_text_and_the_palette_leads_to_it() {
    let app = App::start();
    let session = session_with(&app, &["Refunded the customer <b>twice</b>"]).await;
    found(&app, "q=refund", 1).await;
    add_person(&app, "mia@acme.test");
    let browser = Browser::of(&app, "mia@acme.test").await;
    let html = browser.page("/search?q=refund").await;
    for part in [
        "<mark>Refunded</mark> the customer &lt;b&gt;twice&lt;/b&gt;",
        &format!("href=\"/sessions/{session}?before="),
        "value=\"refund\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("not found yet"), "{html}");
    assert!(browser.page("/search").await.contains("What you can type"));
    assert!(browser.page("/search?q=zebra").await.contains("No event has these words"));
    let refused = browser.ask(Method::GET, "/search?q=%22open", &[]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    assert!(
        html.contains("the quotation mark at character 1 has no second one") && html.contains("value=\"&quot;open\""),
        "{html}"
    );
    let links = browser.page("/find?q=tea+%3Cb%3E").await;
    assert!(
        links.ends_with(
            "<a href=\"/search?q=tea+%3Cb%3E\" data-kind=\"search\" data-section=\"Everything\">Search all events for “tea &lt;b&gt;”</a>"
        ),
        "{links}"
    );
}

#[tokio::test]
async fn records_are_found_by_kind_over_the_api_and_on_the_page() {
    let app = App::start();
    let made = app.post(Who::Operator, "/api/actions", json!({ "name": "Refund <b>Acme</b>" })).await;
    let page = search(&app, Who::Member, "q=refund").await;
    let record = &page["records"][0];
    assert_eq!((&record["kind"], &record["id"]), (&json!("task"), &made["id"]));
    assert_eq!((&record["name"], &page["hasMoreRecords"]), (&json!("Refund <b>Acme</b>"), &json!(false)));
    assert_eq!(search(&app, Who::Member, "q=refund&kind=entity").await["records"], json!([]));
    assert_eq!(search(&app, Who::Stranger, "q=refund").await["records"], json!([]));
    for (query, part) in [("q=refund&kind=tasks", "kind"), ("q=refund+status:failed&kind=task", "conditions")] {
        let answer = app.request(Who::Member, Method::GET, &format!("/api/search?{query}")).send().await.unwrap();
        let (status, problem) = problem(answer).await;
        assert!(status == 422 && problem.to_string().contains(part), "{query}: {status} {problem}");
    }
    add_person(&app, "mia@acme.test");
    let browser = Browser::of(&app, "mia@acme.test").await;
    let html = browser.page("/search?q=refund&kind=task").await;
    let href = format!("href=\"/actions/{}\"", made["id"].as_str().unwrap());
    assert!(html.contains(&href) && html.contains("Refund &lt;b&gt;Acme&lt;/b&gt;"), "{html}");
    assert!(html.contains("name=\"kind\" value=\"task\""), "the form keeps the kind: {html}");
    // Conditions are about sessions, so the page searches events instead.
    let html = browser.page("/search?q=refund+status:failed&kind=task").await;
    assert!(html.contains("No event with these words matches the filter") && !html.contains(&href), "{html}");
}

#[tokio::test]
async fn the_palette_finds_questions_and_memory_in_sections_of_their_own() {
    let app = App::start();
    let session = app.running(Who::Operator).await;
    let question =
        json!({ "attempt": 1, "status": "waiting_human", "question": { "message": "Which <b>quetzal</b>?" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), question).await;
    let found = search(&app, Who::Member, "q=quetzal&kind=question").await;
    let id = found["records"][0]["id"].as_str().unwrap().to_owned();
    add_person(&app, "mia@acme.test");
    let browser = Browser::of(&app, "mia@acme.test").await;
    // The last word is still being typed.
    let links = browser.page("/find?q=quetz").await;
    let link = format!(
        "<a href=\"/inbox/{id}\" data-kind=\"question\" data-section=\"Questions\">Which &lt;b&gt;quetzal&lt;/b&gt;?</a>"
    );
    assert!(links.contains(&link), "{links}");
    assert!(links.ends_with("Search all events for “quetz”</a>"), "{links}");
}

#[tokio::test]
async fn the_command_finds_events_and_makes_the_index_anew_beside_the_server() {
    let app = App::start();
    let session = session_with(&app, &["Refunded the customer"]).await;
    found(&app, "q=refund", 1).await;
    let run = |arguments: &[&str]| {
        let mut command = app.cli();
        command.args(arguments).env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let find = |words: &str| run(&["search", "find", "--url", &app.url, words]);
    let (code, out, _) = find("refund");
    assert_eq!(code, Some(0));
    assert!(out.starts_with(&format!("{session} ")) && out.ends_with("agent.message Refunded the customer\n"), "{out}");
    assert_eq!(find("zebra"), (Some(0), "nothing has these words\n".to_owned(), String::new()));
    let (code, _, error) = find("\"open");
    assert!(code == Some(1) && error.contains("quotation mark at character 1"), "{error}");
    let (code, out, error) = run(&["search", "rebuild"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.starts_with("the index is made anew: "), "{out}");
    found(&app, "q=refund", 1).await;
}
