//! P-7, P-39, P-53: a session's log as JSON Lines, and followers of it.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, add_person},
};
use futures_util::{FutureExt, future::join_all};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::Engine;

const FOLLOWERS: usize = 100;
const WRITERS: usize = 4;
/// Commits of each writer.
const COMMITS: usize = 25;
/// Commits of almost 256 KiB: more than the buffers of a connection and the feed of a session hold together.
const LARGE_COMMITS: usize = 160;
/// The slow reader reads one chunk after each of so many commits. A reader that reads nothing is disconnected.
const COMMITS_PER_CHUNK: usize = 10;
/// Time after which a gauge that is waited for does not change any more.
const GAUGE_WAIT_MAX: Duration = Duration::from_secs(20);

fn path_of(session: &str) -> String {
    format!("/api/sessions/{session}/events.jsonl")
}

/// Opens the log of a session as a member.
async fn open(app: &App, session: &str, query: &str) -> Response {
    let response = app.request(Who::Member, Method::GET, &format!("{}{query}", path_of(session))).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{query}");
    response
}

async fn append(app: &App, session: &str, events: Vec<Value>) {
    let body = json!({ "attempt": 1, "events": events });
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), body).await;
}

fn message(text: &str) -> Value {
    json!({ "type": "agent.message", "content": [{ "type": "text", "text": text }] })
}

async fn cancel(app: &App, session: &str) {
    app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), json!({})).await;
}

/// The events of a complete response. Blank lines are heartbeats.
fn events_of(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is not complete: {text}");
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sequences(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

/// The whole log as pages have it.
async fn listed(app: &App, session: &str) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let path = format!("/api/sessions/{session}/events?limit=1000&afterSequence={}", events.len());
        let page: Value = app.request(Who::Member, Method::GET, &path).send().await.unwrap().json().await.unwrap();
        events.extend(page["events"].as_array().unwrap().iter().cloned());
        if page["hasMore"] == false {
            return events;
        }
    }
}

/// Waits until the gauge of open streams has this value.
async fn until_open(app: &App, streams: usize) {
    let line = format!("shiftbook_open_streams {streams}\n");
    let waiting = async {
        while !app.http.get(format!("{}/metrics", app.url)).send().await.unwrap().text().await.unwrap().contains(&line)
        {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(GAUGE_WAIT_MAX, waiting).await.is_ok(), "the gauge of streams does not become {line}");
}

/// Reads until the response breaks off. Returns what came before that; fails for a response that is complete.
async fn until_broken_off(mut response: Response) -> String {
    let mut read = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => read.extend_from_slice(&chunk),
            Ok(None) => panic!("it looks complete: {}", String::from_utf8_lossy(&read)),
            Err(_) => return String::from_utf8_lossy(&read).into_owned(),
        }
    }
}

async fn recorded_events_are_read_to_the_head(app: &App) {
    let session = app.running(Who::Member).await;
    // More than two pages of the reader.
    for _ in 0..12 {
        append(app, &session, (0..100).map(|n| message(&n.to_string())).collect()).await;
    }
    let of_lines = "{\"attempt\": 1, \"events\": [{\"type\": \"agent.message\", \"content\": [\n  {\"type\": \"text\",\r\n\t\"text\": \"a\\nb\"}\n]}]}";
    let request = app.request(Who::Worker, Method::POST, &format!("/api/sessions/{session}/events"));
    let recorded = request.header("content-type", "application/json").body(of_lines).send().await.unwrap();
    assert_eq!(recorded.status(), StatusCode::CREATED);

    let request = app.request(Who::Member, Method::GET, &path_of(&session)).header("accept-encoding", "gzip");
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/jsonl");
    assert!(response.headers().get("content-encoding").is_none(), "a compressor would hold lines back");
    let text = response.text().await.unwrap();
    let log = listed(app, &session).await;
    assert_eq!(text.lines().count(), log.len(), "no blank lines, and no event on two lines");
    assert_eq!(events_of(&text), log);
    assert_eq!(sequences(&log), (1..=log.len() as u64).collect::<Vec<_>>());

    let head = log.len();
    for (after, expected) in [(head - 3, 3), (head, 0), (head + 1, 0)] {
        let rest = open(app, &session, &format!("?afterSequence={after}")).await.text().await.unwrap();
        assert_eq!(events_of(&rest), log[head - expected..], "after {after}");
    }
}

async fn followers_get_every_event_once_in_order_until_the_session_ends(app: &App) {
    let session = app.running(Who::Member).await;
    let opened = join_all((0..FOLLOWERS).map(async |n| {
        let after = n % 4;
        (after, open(app, &session, &format!("?follow=true&afterSequence={after}")).await)
    }));
    let opened = opened.await;
    // A follower in another format, for which each commit is rendered on its own.
    let frames = app.request(Who::Member, Method::GET, &format!("/api/sessions/{session}/events/stream"));
    let frames = frames.send().await.unwrap();
    until_open(app, FOLLOWERS + 1).await;
    let readers = join_all(opened.into_iter().map(async |(after, response)| (after, response.text().await.unwrap())));
    let write = async {
        join_all((0..WRITERS).map(async |writer| {
            for n in 0..COMMITS {
                append(app, &session, vec![message(&format!("{writer}-{n}")), message("second")]).await;
            }
        }))
        .await;
        cancel(app, &session).await;
    };
    // Each response ends, because the session does.
    let (read, frames, ()) = tokio::join!(readers, frames.text(), write);
    let log = listed(app, &session).await;
    assert!(log.len() > 2 * WRITERS * COMMITS);
    for (after, text) in read {
        assert_eq!(events_of(&text), log[after..], "after {after}");
    }
    let frames = frames.unwrap();
    let of_frames: Vec<Value> = frames
        .lines()
        .filter_map(|line| line.strip_prefix("data: {\"id\""))
        .map(|rest| serde_json::from_str(&format!("{{\"id\"{rest}")).unwrap())
        .collect();
    assert_eq!(of_frames, log);
    until_open(app, 0).await;
    let again = open(app, &session, &format!("?follow=true&afterSequence={}", log.len())).await;
    assert_eq!(again.text().await.unwrap(), "", "nothing follows the end");
}

async fn a_reader_that_lags_gets_every_event_once(app: &App) {
    let session = app.running(Who::Member).await;
    let mut slow = open(app, &session, "?follow=true").await;
    let text = "x".repeat(240 * 1024);
    let mut read = Vec::new();
    for n in 1..=LARGE_COMMITS {
        append(app, &session, vec![message(&text)]).await;
        if n.is_multiple_of(COMMITS_PER_CHUNK) {
            read.extend(slow.chunk().await.unwrap().unwrap());
        }
    }
    cancel(app, &session).await;
    while let Some(chunk) = slow.chunk().await.unwrap() {
        read.extend(chunk);
    }
    let events = events_of(std::str::from_utf8(&read).unwrap());
    let head = listed(app, &session).await.len() as u64;
    assert_eq!(sequences(&events), (1..=head).collect::<Vec<_>>());
}

async fn every_reader_gets_every_event_once(app: &App) {
    recorded_events_are_read_to_the_head(app).await;
    followers_get_every_event_once_in_order_until_the_session_ends(app).await;
    a_reader_that_lags_gets_every_event_once(app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_get_every_event_once_in_order_on_sqlite() {
    every_reader_gets_every_event_once(&App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_get_every_event_once_in_order_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    every_reader_gets_every_event_once(&App::start_on(url)).await;
    engine.discard().await;
}

#[tokio::test]
async fn what_is_refused_before_the_first_byte_is_a_problem() {
    let app = App::start();
    let session = app.running(Who::Member).await;
    let path = path_of(&session);
    for (who, path, status, code) in [
        (Who::Anonymous, path.clone(), 401, "unauthenticated"),
        (Who::Stranger, path.clone(), 404, "not_found"),
        (Who::Member, path_of("00000000-0000-7000-8000-000000000000"), 404, "not_found"),
        (Who::Member, path_of("x"), 400, "invalid_id"),
        (Who::Member, format!("{path}?afterSequence=x"), 422, "invalid_request"),
        (Who::Member, format!("{path}?follow=1"), 422, "invalid_request"),
        (Who::Member, format!("{path}?after=1"), 422, "invalid_request"),
    ] {
        let (found, body) = problem(app.request(who, Method::GET, &path).send().await.unwrap()).await;
        assert_eq!((found, &body["code"]), (status, &json!(code)), "{who:?} {path}");
    }
    until_open(&app, 0).await;
}

#[tokio::test]
async fn a_follower_that_loses_access_is_broken_off_before_its_heartbeat() {
    const MIA: &str = "mia@acme.test";
    let app = App::start();
    add_person(&app, MIA);
    let mia = Browser::of(&app, MIA).await;
    let session = app.running(Who::Member).await;
    // Opened first, so that its heartbeat comes before that of the other.
    let mut still_open = open(&app, &session, "?follow=true").await;
    let path = format!("{}?follow=true", path_of(&session));
    let mut of_mia =
        app.http.get(format!("{}{path}", app.url)).header("cookie", mia.jar[0].0.clone()).send().await.unwrap();
    assert_eq!(of_mia.status(), StatusCode::OK);
    assert!(!of_mia.chunk().await.unwrap().unwrap().is_empty());

    let removed = app.cli().args(["user", "remove", "--tenant", "acme", "--email", MIA]).output().unwrap();
    assert!(removed.status.success(), "{}", String::from_utf8_lossy(&removed.stderr));
    until_broken_off(of_mia).await;
    let mut of_others = String::new();
    while let Some(chunk) = still_open.chunk().now_or_never() {
        of_others.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
    assert!(!of_others.lines().any(str::is_empty), "it took until a heartbeat: {of_others}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_breaks_followers_off_and_those_who_leave_are_not_counted() {
    let mut app = App::start();
    let session = app.running(Who::Member).await;
    let open_all = async || join_all((0..FOLLOWERS).map(async |_| open(&app, &session, "?follow=true").await)).await;
    let leaving = open_all().await;
    until_open(&app, FOLLOWERS).await;
    drop(leaving);
    until_open(&app, 0).await;
    let staying = open_all().await;
    app.terminate();
    for read in join_all(staying.into_iter().map(until_broken_off)).await {
        let sequences = sequences(&events_of(&read));
        assert_eq!(sequences, (1..=sequences.len() as u64).collect::<Vec<_>>());
    }
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    app.until_logged(0, "stopped").await;
    assert!(!app.log().contains("connections were cut"), "{}", app.log());
}
