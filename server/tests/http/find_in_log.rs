//! Finding a text in one log: over the API, on the page of the session without scripts, and by command.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// A running session with this many messages of its agent, "zebra" in every 50th, the first one included. Returns its
/// id.
async fn session_with(app: &App, messages: usize) -> String {
    let session = app.running(Who::Member).await;
    let said = |at: usize| if at.is_multiple_of(50) { format!("a <b>Zebra</b> {at}.") } else { format!("said {at}.") };
    let message = |at: usize| json!({ "type": "agent.message", "content": [{ "type": "text", "text": said(at) }] });
    let events: Vec<Value> = (0..messages).map(message).collect();
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), json!({ "attempt": 1, "events": events })).await;
    session
}

#[tokio::test]
async fn a_program_finds_the_events_of_a_log_page_by_page() {
    let app = App::start();
    let session = session_with(&app, 200).await;
    let path = format!("/api/sessions/{session}/events/find");
    let ask = |who: Who, query: &str| app.request(who, Method::GET, &format!("{path}?{query}")).send();
    let page: Value = ask(Who::OtherMember, "q=ZEBRA&limit=3").await.unwrap().json().await.unwrap();
    assert_eq!((&page["total"], &page["totalIsExact"], &page["hasMore"]), (&json!(4), &json!(true), &json!(true)));
    let items = page["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["eventType"]), (3, &json!("agent.message")));
    assert_eq!(items[0]["snippet"][1], json!({ "text": "Zebra", "isMarked": true }));
    let next = format!("q=zebra&afterSequence={}", items[2]["sequence"]);
    let page: Value = ask(Who::Worker, &next).await.unwrap().json().await.unwrap();
    assert_eq!((&page["total"], &page["hasMore"]), (&json!(4), &json!(false)));
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    let none: Value = ask(Who::Member, "q=zebra&eventTypes=user.message").await.unwrap().json().await.unwrap();
    assert_eq!(none, json!({ "total": 0, "totalIsExact": true, "items": [], "hasMore": false }));
    assert_eq!(ask(Who::Stranger, "q=zebra").await.unwrap().status(), StatusCode::NOT_FOUND);
    for (query, part) in [("", "`q`"), ("q=", "name what to find"), ("q=a&limit=0", "limit"), ("q=a&x=1", "x")] {
        let (status, problem) = problem(ask(Who::Member, query).await.unwrap()).await;
        assert!(status == 422 && problem.to_string().contains(part), "{query}: {status} {problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_leads_from_one_match_to_the_next_without_scripts() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let session = session_with(&app, 450).await;
    let path = format!("/sessions/{session}");
    // The form sends the text alone. The answer leads to the first match.
    let begun = ada.ask(Method::GET, &format!("{path}?find=zebra"), &[]).await;
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    let first = begun.headers()["location"].to_str().unwrap().to_owned();
    let (address, at) = first.split_once('#').unwrap();
    assert!(address.ends_with("?find=zebra&match=1"), "{first}");
    let page = ada.page(address).await;
    for part in ["1 of 9<", &format!("id=\"{at}\""), "<mark>Zebra</mark>", "value=\"zebra\"", "data-mark=\"find\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let way = |page: &str, name: &str| {
        let link = page.split(&format!("data-find=\"{name}\"")).next().unwrap().rsplit("href=\"").next().unwrap();
        link.split('"').next().unwrap().replace("&amp;", "&")
    };
    assert!(way(&page, "previous").contains("&match=9#"), "the last one is before the first one");
    let next = way(&page, "next");
    let (address, at) = next.split_once('#').unwrap();
    assert!(address.ends_with("&match=2"), "{next}");
    let page = ada.page(address).await;
    assert!(page.contains("2 of 9<") && page.contains(&format!("id=\"{at}\"")), "{next}");
    // A match at the other end of the log is on another page of it. Numbers beyond the last are the last.
    let page = ada.page(&format!("{path}?find=zebra&match=99")).await;
    assert!(page.contains("9 of 9<") && page.contains("400.") && !page.contains("said 1."));
    let tools = ada.page(&format!("{path}?find=zebra&kinds=tools")).await;
    assert!(tools.contains("No event of these kinds contains “<bdi>zebra</bdi>”."), "{tools}");
    let none = ada.page(&format!("{path}?find=%3Cb%3E+giraffe")).await;
    assert!(none.contains("No event of this session contains “<bdi>&lt;b&gt; giraffe</bdi>”."), "{none}");
    assert!(!ada.page(&format!("{path}?find=+")).await.contains("find-text"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_too_long_comes_back_with_the_reason_and_other_workspaces_find_no_session() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let session = session_with(&app, 1).await;
    let long = "x".repeat(201);
    let refused = ada.ask(Method::GET, &format!("/sessions/{session}?find={long}"), &[]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    assert!(html.contains("at most 200 characters") && html.contains(&format!("value=\"{long}\"")), "{html}");
    let foreign = app.request(Who::Stranger, Method::GET, &format!("/sessions/{session}?find=zebra"));
    assert_eq!(foreign.send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_command_prints_the_events_of_a_log() {
    let app = App::start();
    let session = session_with(&app, 51).await;
    let run = |text: &str| {
        let mut command = app.cli();
        command.args(["search", "log", "--url", &app.url, &session, text]);
        let output = command.env("SHIFTBOOK_TOKEN", app.token(Who::Worker).unwrap()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, out) = run("zebra</b> 50");
    assert_eq!(code, Some(0));
    assert!(out.ends_with(" agent.message a <b>Zebra</b> 50.\n1 event with this text\n"), "{out}");
    assert_eq!(run("giraffe"), (Some(0), "0 events with this text\n".to_owned()));
}
