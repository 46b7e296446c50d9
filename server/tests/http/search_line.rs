//! Search lines: of `GET /api/sessions` and `GET /api/search`, of the pages /sessions and /search, and of the command.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, add_person},
    inbox::{ask, reviewer},
};
use reqwest::{Method, StatusCode, header::LOCATION};
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

fn encoded(line: &str) -> String {
    byte_serialize(line.as_bytes()).collect()
}

/// A failed session of an agent of this name. Returns its id.
async fn failed(app: &App, agent: &str) -> String {
    let created = json!({ "sessionType": "agent", "agentSlug": agent, "title": "Weekly <b>report</b>" });
    let id = app.post(Who::Operator, "/api/sessions", created).await["id"].as_str().unwrap().to_owned();
    let claimed =
        app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": [agent], "leaseSeconds": 600 })).await;
    assert_eq!(claimed["sessions"].as_array().map(Vec::len), Some(1), "{claimed}");
    let failure = json!({ "attempt": 1, "error": { "message": "429 rate limit" }, "usage": { "costUsd": 0.75 } });
    app.post(Who::Worker, &format!("/api/sessions/{id}/fail"), failure).await;
    id
}

async fn listed(app: &App, who: Who, line: &str) -> Vec<String> {
    let path = format!("/api/sessions?q={}", encoded(line));
    let answer = app.request(who, Method::GET, &path).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{line}");
    let page: Value = answer.json().await.unwrap();
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_list_of_sessions_takes_a_line_and_refuses_what_is_none() {
    let app = App::start();
    let (scouts, clerks) = (failed(&app, "scout").await, failed(&app, "clerk").await);
    for (line, sessions) in [
        ("agent:scout", vec![&scouts]),
        ("status:failed error:\"rate limit\" cost>0.5", vec![&clerks, &scouts]),
        ("cost>1", vec![]),
        ("report -agent:clerk after:today", vec![&scouts]),
        ("", vec![&clerks, &scouts]),
    ] {
        let sessions: Vec<String> = sessions.into_iter().cloned().collect();
        assert_eq!(listed(&app, Who::Member, line).await, sessions, "{line}");
    }
    assert!(listed(&app, Who::Stranger, "status:failed").await.is_empty(), "another workspace");
    for zone in ["", "Mars"] {
        let path = format!("/api/sessions?timezone={zone}");
        let (status, problem) = problem(app.request(Who::Member, Method::GET, &path).send().await.unwrap()).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("timezone")));
    }
    for (query, parts) in [
        ("q=colour%3Ared", &["there is no field colour; the fields are agent, status, type"][..]),
        ("q=status%3Adone", &["at character 8", "one of draft, pending"]),
        ("q=after%3Atoday&timezone=Mars%2FOlympus", &["timezone"]),
        ("q=by%3Anobody", &["no member of the workspace"]),
    ] {
        for list in ["sessions", "search"] {
            let words = if list == "search" { "%20tea" } else { "" };
            let query = query.replacen('&', &format!("{words}&"), 1);
            let query = if query.contains('&') { query } else { format!("{query}{words}") };
            let answer = app.request(Who::Member, Method::GET, &format!("/api/{list}?{query}")).send().await.unwrap();
            let (status, problem) = problem(answer).await;
            assert_eq!(status, 422, "{list} {query}: {problem}");
            for part in parts {
                assert!(problem.to_string().contains(part), "{list} {query}: {problem}");
            }
        }
    }
}

#[tokio::test]
async fn the_page_shows_the_line_as_it_is_understood_with_a_chip_for_each_part() {
    let app = App::start();
    let session = failed(&app, "scout").await;
    let row = format!("data-session-id=\"{session}\"");
    add_person(&app, "mia@acme.test");
    let browser = Browser::of(&app, "mia@acme.test").await;
    let html = browser.page("/sessions?q=report+COST%3E0.50&status=failed").await;
    for part in [
        row.as_str(),
        "value=\"status:failed cost&gt;0.5 report\"",
        "href=\"/sessions?q=cost%3E0.5%20report\"",
        "href=\"/sessions?q=status%3Afailed%20cost%3E0.5\"",
        "href=\"/search?q=status%3Afailed%20cost%3E0.5%20report\"",
        "<option value=\"status:failed cost&gt;0.5 report agent:scout\">",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // Addresses from before search lines.
    assert!(browser.page("/sessions?agent=scout&type=agent&status=failed&q=weekly").await.contains(&row));
    assert!(browser.page("/sessions?agent=clerk").await.contains("No session matches the filter."));
    let refused = browser.ask(Method::GET, "/sessions?q=colour%3A%3Cb%3E", &[]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    let has = |part: &str| html.contains(part);
    assert!(has("there is no field colour") && has("value=\"colour:&lt;b&gt;\"") && !has(&row), "{html}");
    let found = browser.page("/search?q=status%3Afailed").await;
    assert!(found.contains("href=\"/sessions?q=status%3Afailed\""), "conditions alone are of sessions: {found}");
}

#[tokio::test]
async fn the_command_lists_the_sessions_of_a_line() {
    let app = App::start();
    let session = failed(&app, "scout").await;
    let run = |arguments: &[&str]| {
        let mut command = app.cli();
        command.args(["search", "sessions", "--url", &app.url]).args(arguments);
        let output = command.env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, out, error) = run(&["status:failed", "cost>0.5", "-agent:clerk"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.starts_with(&format!("{session} failed ")) && out.ends_with(" scout Weekly <b>report</b>\n"), "{out}");
    assert_eq!(run(&["cost>99"]).1, "no session is found\n");
    let (code, _, error) = run(&["colour:red"]);
    assert!(code == Some(1) && error.contains("there is no field colour"), "{error}");
}

#[tokio::test]
async fn a_list_is_sorted_and_an_unknown_order_is_refused_with_those_that_exist() {
    let app = App::start();
    let (scouts, clerks) = (failed(&app, "scout").await, failed(&app, "clerk").await);
    for (query, first) in [("sort=oldest", &scouts), ("sort=newest", &clerks), ("sort=cost&q=status%3Afailed", &clerks)]
    {
        let path = format!("/api/sessions?{query}&limit=1");
        let page: Value = app.request(Who::Member, Method::GET, &path).send().await.unwrap().json().await.unwrap();
        assert_eq!(page["items"][0]["id"], json!(first), "{query}: {page}");
        let next = format!("{path}&cursor={}", page["nextCursor"].as_str().unwrap());
        let page: Value = app.request(Who::Member, Method::GET, &next).send().await.unwrap().json().await.unwrap();
        assert_eq!((page["items"].as_array().map(Vec::len), &page["nextCursor"]), (Some(1), &Value::Null), "{query}");
    }
    let answer = app.request(Who::Member, Method::GET, "/api/sessions?sort=title").send().await.unwrap();
    let (status, problem) = problem(answer).await;
    assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("sort")));
    for order in ["newest", "oldest", "duration", "cost", "activity"] {
        assert!(problem.to_string().contains(order), "{order}: {problem}");
    }
    add_person(&app, "mia@acme.test");
    let browser = Browser::of(&app, "mia@acme.test").await;
    let refused = browser.ask(Method::GET, "/sessions?sort=title&q=status%3Afailed", &[]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    assert!(html.contains("newest, oldest, duration, cost, activity"), "{html}");
    assert!(html.contains("value=\"status:failed\""), "the line stays: {html}");
    let sorted = browser.page("/sessions?sort=cost&q=status%3Afailed").await;
    for part in [
        "aria-sort=\"descending\" class=\"table-number\"><a href=\"/sessions?q=status%3Afailed\" class=\"quiet\">Cost<",
        "href=\"/sessions?q=status%3Afailed&amp;sort=duration\" class=\"quiet\">Duration<",
        "<input type=\"hidden\" name=\"sort\" value=\"cost\"",
    ] {
        assert!(sorted.contains(part), "{part}: {sorted}");
    }
}

#[tokio::test]
async fn the_columns_that_a_person_chose_are_kept_in_their_browser() {
    let app = App::start();
    let session = failed(&app, "scout").await;
    add_person(&app, "mia@acme.test");
    let mut browser = Browser::of(&app, "mia@acme.test").await;
    let columns = "columns=title.compact.creator.cost";
    let next = "/sessions?q=status%3Afailed&sort=cost";
    let chosen = [("column.creator", "on"), ("column.cost", "on"), ("density", "compact"), ("next", next)];
    let led = browser.post("/sessions/columns", &chosen).await;
    assert_eq!((led.status(), led.headers()[LOCATION].to_str().unwrap()), (StatusCode::SEE_OTHER, next));
    let html = browser.page(next).await;
    let rows = format!("data-rows=\"/sessions/rows?{columns}&amp;");
    for part in [">Started by<", "data-density=\"compact\"", rows.as_str()] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains(">Duration</a>"), "{html}");
    // A row that is read again has the same columns: title, person and cost.
    let row = browser.page(&format!("/sessions/rows?{columns}&ids={session}")).await;
    assert_eq!(row.matches("<td").count(), 3, "{row}");
    let row = browser.page(&format!("/sessions/rows?ids={session}")).await;
    assert_eq!(row.matches("<td").count(), 8, "the columns of someone who chose none: {row}");
    // Another address is not followed.
    let led = browser.post("/sessions/columns", &[("next", "https://evil.example/")]).await;
    assert_eq!(led.headers()[LOCATION], "/today");
    assert!(browser.page("/sessions").await.contains("columns=title&amp;"), "no column but the title");
}

#[tokio::test]
async fn a_saved_search_is_counted_above_the_list_and_renamed() {
    let app = App::start();
    failed(&app, "scout").await;
    add_person(&app, "mia@acme.test");
    let mut browser = Browser::of(&app, "mia@acme.test").await;
    for name in ["Broken", "Other"] {
        browser.post("/sessions/saved", &[("name", name), ("q", "status:failed")]).await;
    }
    let html = browser.page("/sessions").await;
    assert!(html.contains("<bdi>Broken</bdi>") && html.contains("<span class=\"chip-count\">1</span>"), "{html}");
    // Every page has them in the navigation at the side, and a part of a page does not.
    let today = browser.page("/today").await;
    let entry = "href=\"/sessions?q=status%3Afailed\" title=\"Broken\" class=\"rail-link\"";
    assert!(today.contains(entry) && today.contains("<span class=\"chip-count\">1</span>"), "{today}");
    // Lists read them again while sessions change.
    let rows = browser.page("/sessions/rows?ids=&saved=on").await;
    assert!(rows.starts_with("<nav") && rows.contains(entry) && rows.contains("data-saved"), "{rows}");
    assert!(browser.page("/sessions/rows?ids=").await.is_empty());
    let list: Value = browser.call(Method::GET, "/api/saved-searches").send().await.unwrap().json().await.unwrap();
    let id = list["savedSearches"][0]["id"].as_str().unwrap();
    let path = format!("/sessions/saved/{id}/rename");
    let taken = browser.post(&path, &[("name", "Other")]).await;
    assert_eq!(taken.status(), StatusCode::CONFLICT);
    let html = taken.text().await.unwrap();
    assert_eq!(html.matches("value=\"Other\"").count(), 2, "what was typed stays, beside the one called so: {html}");
    let renamed = browser.post(&path, &[("name", "Burnt")]).await;
    assert_eq!(renamed.headers()[LOCATION], "/sessions/saved?notice=search_renamed");
    let body = json!({ "name": "Charred" });
    let answer = browser.call(Method::PATCH, &format!("/api/saved-searches/{id}")).json(&body).send().await.unwrap();
    let renamed: Value = answer.json().await.unwrap();
    assert_eq!((&renamed["name"], &renamed["q"]), (&json!("Charred"), &json!("status:failed")));
}

#[tokio::test]
async fn the_inbox_is_searched_by_a_line_in_its_address() {
    let app = App::start();
    ask(&app, &["Which colour?", "Which size?"].map(|message| json!({ "message": message }))).await;
    let browser = reviewer(&app).await;
    let whole = browser.page("/inbox").await;
    assert!(whole.contains("Which colour?") && whole.contains("Which size?"), "{whole}");
    for path in ["/inbox?q=title%3Acolour", "/inbox/list?q=title%3Acolour", "/inbox?q=which+-size"] {
        let html = browser.page(path).await;
        assert!(html.contains("Which colour?") && !html.contains("Which size?"), "{path}: {html}");
    }
    let found = browser.page("/inbox?q=title%3Acolour").await;
    assert!(found.contains("value=\"title:colour\"") && found.contains("?state=open&amp;q=title%3Acolour"), "{found}");
    assert!(browser.page("/inbox?q=nothing").await.contains("No item matches the search."));
    let decided = browser.page("/inbox?state=decided&assignedTo=all&q=nothing").await;
    assert!(decided.contains("No item matches the search.") && decided.contains("value=\"nothing\""), "{decided}");
    let refused = browser.ask(Method::GET, "/inbox?q=cost%3E1+%3Cb%3E", &[]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    assert!(html.contains("agent, title, kind, tool") && html.contains("value=\"cost&gt;1 &lt;b&gt;\""), "{html}");
    assert!(html.contains("Which size?"), "the list is whole below the refusal: {html}");
}

#[tokio::test]
async fn the_pages_of_memories_are_searched_by_a_line_in_their_addresses() {
    let app = App::start();
    for (path, text) in [("topics/tea.md", "Green <b>leaves</b>\n"), ("topics/coffee.md", "Green beans\n")] {
        let write = json!({ "baseVersion": 0, "text": text, "reason": "" });
        let to = format!("/api/agents/iris/memory/document?path={path}");
        let written = app.request(Who::Operator, Method::PUT, &to).json(&write).send().await.unwrap();
        assert!(written.status().is_success(), "{}", written.text().await.unwrap());
    }
    let browser = reviewer(&app).await;
    for page in ["/memory", "/agents/iris/memory"] {
        let found = browser.page(&format!("{page}?q=green+TITLE%3Atea")).await;
        assert!(found.contains("1 document for") && found.contains("Green &lt;b&gt;leaves"), "{found}");
        assert!(!found.contains("Green beans") && found.contains("value=\"green TITLE:tea\""), "{found}");
        assert!(found.contains(&format!("href=\"{page}\"")), "a link to the whole page: {found}");
        assert!(browser.page(&format!("{page}?q=title%3Atopics")).await.contains("2 documents for"));
        let refused = browser.ask(Method::GET, &format!("{page}?q=cost%3E1"), &[]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let html = refused.text().await.unwrap();
        assert!(html.contains("the fields are title.") && html.contains("value=\"cost&gt;1\""), "{html}");
    }
    let shown = browser.page("/agents/iris/memory?path=topics/tea.md&q=cost%3E1").await;
    assert!(shown.contains("leaves") && !shown.contains("the fields are"), "a document is shown: {shown}");
}
