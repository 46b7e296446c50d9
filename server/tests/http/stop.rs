//! P-39: after SIGTERM the server ends in time, every stream gets `bye`, and every accepted write is kept. The memory
//! writer reads what is open then.

use crate::{
    app::{App, Who, binary, http, terminate},
    interaction::get,
    memory_training::{proposals, settings},
};
use domain::count::counted;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};
use testkit::{
    Raw,
    model::{ScriptedModel, ScriptedReply},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const STREAMS: usize = 200;
/// Appends that are answered before the signal.
const APPENDS_BEFORE: usize = 20;
/// Appends whose bodies arrive after the signal.
const IN_FLIGHT: usize = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_streams_get_bye_and_accepted_writes_are_kept() {
    let mut app = App::start();
    let session = app.running(Who::Operator).await;
    let token = app.token(Who::Operator).unwrap();
    let request = format!(
        "GET /api/sessions/{session}/events/stream HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\r\n",
        app.address
    );
    let open = async || {
        let mut stream = TcpStream::connect(&app.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut first = [0; 15];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        stream
    };
    let mut streams = join_all((0..STREAMS).map(|_| open())).await;
    let path = format!("/api/sessions/{session}/events");
    let body = |n: usize| {
        json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": format!("{n}") }] }).to_string()
    };
    let append = async |n: usize| {
        let request = app.request(Who::Worker, Method::POST, &path).header("content-type", "application/json");
        request.body(body(n)).send().await.is_ok_and(|r| r.status().is_success())
    };
    let before = join_all((0..APPENDS_BEFORE).map(append)).await;
    assert!(before.iter().all(|accepted| *accepted));
    // A request in flight at the signal: the server has asked for its body and received half of it.
    let begin = async |n: usize| {
        let (body, mut stream) = (body(n), TcpStream::connect(&app.address).await.unwrap());
        let token = app.token(Who::Worker).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nexpect: 100-continue\r\n\r\n",
            app.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut go_on = [0; 25];
        stream.read_exact(&mut go_on).await.unwrap();
        assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
        let (first, second) = body.split_at(body.len() / 2);
        stream.write_all(first.as_bytes()).await.unwrap();
        (stream, second.to_owned())
    };
    let in_flight = join_all((0..IN_FLIGHT).map(|n| begin(1_000 + n))).await;
    app.terminate();
    // The first `bye` shows that the stop has begun.
    let rest = streams.split_off(1);
    let first = ends_with_bye(streams.remove(0)).await;
    let finish = async |(mut stream, second): (TcpStream, String)| {
        stream.write_all(second.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 201", "a request in flight is cut");
    };
    let (_, ended) =
        tokio::join!(join_all(in_flight.into_iter().map(finish)), join_all(rest.into_iter().map(ends_with_bye)));
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    // Each step of stopping has a time limit. A step that reaches its limit logs a warning.
    app.until_logged(0, "stopped").await;
    let log = app.log();
    for late in ["connections were cut", "took too long to stop"] {
        assert!(!log.contains(late), "{late}: {log}");
    }
    let count = usize::from(first) + ended.iter().filter(|ended| **ended).count();
    assert_eq!(count, STREAMS, "streams that ended with bye");
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let file = app.cli().args(["backup", "/dev/null/nowhere"]).output().unwrap();
    assert!(!file.status.success(), "a backup that cannot be written is an error");
    let text = String::from_utf8_lossy(&verified.stdout).into_owned() + &String::from_utf8_lossy(&verified.stderr);
    // created, dispatched, claimed, running: four events before the appends.
    let expected = format!(" {}", counted((APPENDS_BEFORE + IN_FLIGHT) as u64 + 4, "event"));
    assert!(format!(" {text}").contains(&expected), "verify counts{expected}: {text}");
}

/// Reads a stream to its end. Returns whether `bye` was its last event.
async fn ends_with_bye(mut stream: TcpStream) -> bool {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    let text = String::from_utf8_lossy(&text);
    text.rsplit("event: ").next().is_some_and(|last| last.starts_with("bye"))
}

#[tokio::test]
async fn a_server_whose_log_is_not_read_answers_and_stops() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = binary(&dir)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    // Nothing reads the server's log any more: writing a line to it fails from now on.
    drop(server.stderr.take());
    let answer = http().get(format!("{}/api/me", address.trim())).send().await.unwrap();
    assert_eq!(answer.status(), 401);
    terminate(&server);
    let ended = tokio::task::spawn_blocking(move || server.wait().unwrap()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
}

#[tokio::test]
async fn a_server_whose_database_is_being_read_stops_without_waiting_for_the_reader() {
    let mut app = App::start();
    let mut reader = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    reader.begin_reading().await;
    // A write that the reader does not see: emptying the write-ahead log would have to wait for it.
    app.running(Who::Operator).await;
    app.terminate();
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    drop(reader);
}

/// An answer of the model that makes a topic from the first message of a conversation.
fn topic(slug: &str, line: &str) -> ScriptedReply {
    let op = json!({
        "op": "create", "path": format!("topics/{slug}.md"), "heading": [], "base_sha256": null,
        "body": format!("# {slug}\n\n- {line}\n"), "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "Said.",
    });
    let answer = json!({ "schema": 1, "nothing": false, "summary": null, "ops": [op] });
    ScriptedReply::Text(answer.to_string().leak())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_has_open_conversations_read_or_leaves_them_to_the_next_start() {
    let model = ScriptedModel::start([topic("launch", "It is on Friday")]).await;
    let mut app = App::start_with(&settings(&model), &[], &[]);
    let begun = async |app: &App, from: usize, message: &str| {
        app.until_logged(from, "a memory writer is at work").await;
        app.post(Who::Member, "/api/threads", json!({ "agent": "scout", "message": message })).await;
    };
    begun(&app, 0, "The launch is on Friday.").await;
    app.terminate();
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    assert_eq!(model.received(), 1, "the server asked before it ended");
    let from = app.log().len();
    app.serve_again();
    proposals(&app, 1).await;

    // The model does not answer in time. Nothing of that run is written.
    model.then([ScriptedReply::NoAnswer]);
    begun(&app, from, "The garden has roses.").await;
    app.terminate();
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    app.until_logged(from, "the memory writer could not finish; the next start does it").await;
    assert_eq!(model.received(), 2);
    model.then([topic("garden", "It has roses")]);
    app.serve_again();
    proposals(&app, 2).await;
    let runs = get(&app, "/api/agents/scout/memory/runs").await;
    let found: Vec<_> =
        runs["items"].as_array().unwrap().iter().map(|run| json!([run["state"], run["turns"]])).collect();
    assert_eq!(found, vec![json!(["succeeded", 1]); 2], "{runs}");
    assert_eq!(model.received(), 3);
}
