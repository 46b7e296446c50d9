//! The forms on the page of a session that waits: a message, and the results of custom tools. Without scripts.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

const ADA: &str = "ada@acme.test";
const EVE: &str = "eve@acme.test";

/// A session that its worker has yielded after so many calls of a custom tool.
async fn resting(app: &App, status: &str, calls: usize) -> String {
    let session = app.running(Who::Operator).await;
    let call =
        |n| json!({ "type": "tool-call", "toolCallId": format!("c{n}"), "toolName": "build", "input": { "n": n } });
    let calls: Vec<_> =
        (0..calls).map(call).map(|call| json!({ "type": "agent.tool_call", "content": [call] })).collect();
    if !calls.is_empty() {
        let events = json!({ "attempt": 1, "events": calls });
        app.post(Who::Worker, &format!("/api/sessions/{session}/events"), events).await;
    }
    let rest = json!({ "attempt": 1, "status": status });
    app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), rest).await;
    session
}

async fn get(app: &App, path: &str) -> Value {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

async fn status(app: &App, session: &str) -> String {
    get(app, &format!("/api/sessions/{session}")).await["status"].as_str().unwrap().to_owned()
}

/// The contents of the recorded events of this kind.
async fn recorded(app: &App, session: &str, kind: &str) -> Vec<Value> {
    let log = get(app, &format!("/api/sessions/{session}/events?limit=1000&eventTypes={kind}")).await;
    log["events"].as_array().unwrap().iter().map(|event| event["content"][0].clone()).collect()
}

/// The fields of the form as its page has them, with this text for each call.
fn fields(calls: &[usize], text: impl Fn(usize) -> String) -> Vec<(String, String)> {
    let row = |(row, call): (usize, &usize)| {
        let name = |part: &str| format!("results[{row}].{part}");
        [(name("toolCallId"), format!("c{call}")), (name("output"), text(*call))]
    };
    calls.iter().enumerate().flat_map(row).collect()
}

async fn send(browser: &Browser<'_>, path: &str, form: &[(String, String)]) -> Response {
    let form: Vec<_> = form.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    browser.ask(Method::POST, path, &form).await
}

async fn refused(answer: Response) -> String {
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    answer.text().await.unwrap()
}

/// The attributes of the control with this name.
fn control<'a>(page: &'a str, name: &str) -> &'a str {
    let tag = page.split(&format!("name=\"{name}\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {page}"));
    tag.split('>').next().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_a_session_takes_the_results_of_all_calls_that_wait() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    for count in [1, 2, 7, 40] {
        let session = resting(&app, "awaiting_tool", count).await;
        let (page, post) = (format!("/sessions/{session}"), format!("/sessions/{session}/tool-results"));
        assert_eq!(ada.page(&page).await.matches(">The result is JSON<").count(), count);
        let all: Vec<usize> = (0..count).collect();
        let mut form = fields(&all, |call| format!("{{\"of\": {call}"));
        form.push((format!("results[{}].json", count - 1), "on".into()));
        form.push(("results[0].isError".into(), "on".into()));
        let again = refused(send(&ada, &post, &form).await).await;
        let wrong = format!("id=\"results-results[{}].output-error\"", count - 1);
        assert!(again.contains(&wrong) && again.contains("not valid JSON (line 1)"), "{again}");
        assert_eq!(again.matches("{\"of\": ").count() + again.matches("{&quot;of&quot;: ").count(), count, "{again}");
        assert!(control(&again, "results[0].isError").contains("checked"), "{again}");
        assert_eq!(status(&app, &session).await, "awaiting_tool");
        form[2 * count - 1].1 = " {\"of\": 1.50} ".into();
        let sent = send(&ada, &post, &form).await;
        assert_eq!(sent.headers()["location"], format!("{page}?notice=results_sent"));
        assert_eq!(status(&app, &session).await, "pending");
        let results = recorded(&app, &session, "user.tool_result").await;
        assert_eq!(results.len(), count);
        assert_eq!((&results[count - 1]["output"], &results[0]["isError"]), (&json!({ "of": 1.50 }), &json!(true)));
        if count > 1 {
            assert_eq!(results[0]["output"], "{\"of\": 0", "a text is a text");
        }
        // Back and sent again: nothing is recorded twice.
        assert_eq!(send(&ada, &post, &form).await.status(), StatusCode::SEE_OTHER);
        assert_eq!(recorded(&app, &session, "user.tool_result").await.len(), count);
    }
}

/// What the forms of a page are for, and the HTML from there on.
fn awaited(html: &str) -> (&str, &str) {
    let rest = html.split("data-awaits=\"").nth(1).unwrap_or_else(|| panic!("no forms: {html}"));
    (rest.split('"').next().unwrap(), rest)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_open_page_reads_again_has_the_form_for_what_the_session_waits_for() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    for (status, calls, wanted) in
        [("idle", 0, "message"), ("awaiting_tool", 1, "results c0"), ("awaiting_tool", 3, "results c0 c1 c2")]
    {
        let session = resting(&app, status, calls).await;
        let page = format!("/sessions/{session}");
        let moving = ada.page(&format!("{page}/summary")).await;
        let (awaits, forms) = awaited(&moving);
        assert_eq!(awaits, wanted);
        assert!(forms.contains("<textarea") && moving.contains("href=\"#continue\""), "{moving}");
        // The text typed into the form of a page stays there: both are for the same.
        assert_eq!(awaited(&ada.page(&page).await).0, wanted);
        let cancelled = json!({ "reason": "no need" });
        app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), cancelled).await;
        let moving = ada.page(&format!("{page}/summary")).await;
        assert_eq!(awaited(&moving).0, "");
        assert!(!moving.contains("<textarea"), "{moving}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_is_a_button_of_a_running_session_and_in_a_menu_beside_what_one_that_waits_needs() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let running = app.running(Who::Operator).await;
    let shown = ada.page(&format!("/sessions/{running}")).await;
    assert!(shown.contains("<span>Cancel</span>") || shown.contains("</svg>Cancel"), "{shown}");
    let waiting = resting(&app, "waiting_human", 0).await;
    let shown = ada.page(&format!("/sessions/{waiting}")).await;
    let summaries: Vec<_> =
        shown.split("<summary").skip(1).map(|part| part.split("</summary>").next().unwrap()).collect();
    assert!(summaries.iter().any(|summary| summary.ends_with("More")), "{shown}");
    assert!(!summaries.iter().any(|summary| summary.ends_with("Cancel")), "{shown}");
    assert!(shown.contains("Decide") && shown.contains(">Cancel session<"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_are_missing_keep_the_session_waiting_unless_it_is_to_continue_without_them() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let session = resting(&app, "awaiting_tool", 3).await;
    let (page, post) = (format!("/sessions/{session}"), format!("/sessions/{session}/tool-results"));
    let none = refused(send(&ada, &post, &fields(&[0, 1, 2], |_| " ".into())).await).await;
    assert!(none.contains("Enter a result."), "{none}");
    let second = |call| if call == 1 { "done".to_owned() } else { String::new() };
    let sent = send(&ada, &post, &fields(&[0, 1, 2], second)).await;
    assert_eq!((sent.status(), status(&app, &session).await.as_str()), (StatusCode::SEE_OTHER, "awaiting_tool"));
    let shown = ada.page(&page).await;
    assert!(shown.contains("value=\"c0\"") && !shown.contains("value=\"c1\""), "{shown}");
    // Someone else gave another result of a call meanwhile. The typed text is kept.
    let late = refused_late(send(&ada, &post, &fields(&[0, 1], |call| format!("late {call}"))).await).await;
    assert!(late.contains("late 0") && late.contains("late 1") && late.contains("another result by now"), "{late}");
    assert!(late.contains("does not wait for this result any more"), "{late}");
    let mut rest = fields(&[0, 2], |call| if call == 0 { "also done".into() } else { String::new() });
    rest.push(("without_rest".into(), "on".into()));
    assert_eq!(send(&ada, &post, &rest).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(
        (status(&app, &session).await.as_str(), recorded(&app, &session, "user.tool_result").await.len()),
        ("pending", 2)
    );
    assert!(!ada.page(&page).await.contains("tool-results"));
}

async fn refused_late(answer: Response) -> String {
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    answer.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_the_log_does_not_have_is_named_by_hand() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let session = resting(&app, "awaiting_tool", 0).await;
    let post = format!("/sessions/{session}/tool-results");
    let form =
        |id: &str| [("results[0].toolCallId", id), ("results[0].output", "done")].map(|(n, t)| (n.into(), t.into()));
    let again = refused(send(&ada, &post, &form("")).await).await;
    assert!(
        again.contains("id=\"results-results[0].toolCallId-error\"") && again.contains("\ndone</textarea>"),
        "{again}"
    );
    assert_eq!(send(&ada, &post, &form("x1")).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(recorded(&app, &session, "user.tool_result").await[0]["toolCallId"], "x1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_an_idle_session_takes_a_message_once() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let session = resting(&app, "idle", 0).await;
    let (page, post) = (format!("/sessions/{session}"), format!("/sessions/{session}/messages"));
    let shown = ada.page(&page).await;
    let id = control(&shown, "id").split("value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let empty = refused(ada.ask(Method::POST, &post, &[("id", &id), ("text", " ")]).await).await;
    assert!(empty.contains("id=\"message-text-error\"") && empty.contains(&id), "{empty}");
    assert!(shown.contains("data-end") && !empty.contains("data-end"), "a refused form is seen at once: {empty}");
    let form = [("id", id.as_str()), ("text", "Also look at\r\nGlobex.")];
    for _ in 0..2 {
        let sent = ada.ask(Method::POST, &post, &form).await;
        assert_eq!(sent.headers()["location"], format!("{page}?notice=message_sent"));
    }
    assert_eq!(
        recorded(&app, &session, "user.message").await,
        [json!({ "type": "text", "text": "Also look at\nGlobex." })]
    );
    assert_eq!(status(&app, &session).await, "pending");
    assert!(!ada.page(&page).await.contains(&post));
    let after = app.request(Who::Operator, Method::POST, &format!("/api/sessions/{session}/cancel"));
    after.json(&json!({})).send().await.unwrap();
    let late = refused_late(ada.ask(Method::POST, &post, &[("text", "Too late.")]).await).await;
    assert!(late.contains("\nToo late.</textarea>"), "{late}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_who_started_a_session_or_manages_it_has_the_forms() {
    let app = App::start();
    add_person(&app, EVE);
    let (ada, eve) = (Browser::of(&app, ADA).await, Browser::of(&app, EVE).await);
    for (status, path, form) in [
        ("idle", "messages", vec![("text".to_owned(), "x".to_owned())]),
        ("awaiting_tool", "tool-results", fields(&[0], |_| "x".into())),
    ] {
        let session = resting(&app, status, 1).await;
        let post = format!("/sessions/{session}/{path}");
        assert!(ada.page(&format!("/sessions/{session}")).await.contains(&post));
        assert!(!eve.page(&format!("/sessions/{session}")).await.contains(&post));
        assert_eq!(send(&eve, &post, &form).await.status(), StatusCode::FORBIDDEN);
        assert_eq!(self::status(&app, &session).await, status);
    }
}
