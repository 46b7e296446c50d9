//! P-39: SIGTERM ends the server in time, with every stream told and every accepted write kept.

use crate::app::{App, Who, binary, http, terminate};
use domain::count::counted;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const STREAMS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_streams_hear_goodbye_and_accepted_writes_are_there_afterwards() {
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
    let streams = join_all((0..STREAMS).map(|_| open())).await;
    let append = async |n: usize| {
        let body = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": format!("{n}") }] });
        let path = format!("/api/sessions/{session}/events");
        app.request(Who::Worker, Method::POST, &path).json(&body).send().await.is_ok_and(|r| r.status().is_success())
    };
    let mut acknowledged = 0;
    for n in 0..20 {
        acknowledged += usize::from(append(n).await);
    }
    let began = Instant::now();
    app.terminate();
    let (late, told) = tokio::join!(
        async {
            let mut late = 0;
            for n in 0..200 {
                late += usize::from(append(100 + n).await);
            }
            late
        },
        join_all(streams.into_iter().map(async |mut stream| {
            let mut text = Vec::new();
            let _ = stream.read_to_end(&mut text).await;
            String::from_utf8_lossy(&text).contains("event: bye")
        }))
    );
    acknowledged += late;
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    assert!(began.elapsed() < Duration::from_secs(10), "stopping took {:?}", began.elapsed());
    assert!(
        told.iter().all(|told| *told),
        "{} of {STREAMS} streams heard no goodbye",
        told.iter().filter(|t| !**t).count()
    );
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let file = app.cli().args(["backup", "/dev/null/nowhere"]).output().unwrap();
    assert!(!file.status.success(), "a backup that cannot be written is an error");
    let text = String::from_utf8_lossy(&verified.stdout).into_owned() + &String::from_utf8_lossy(&verified.stderr);
    // created, dispatched, claimed, running: four events before the appends.
    let expected = acknowledged as u64 + 4;
    assert!(text.contains(&counted(expected, "event")), "verify counts {expected} events: {text}");
}

#[tokio::test]
async fn a_server_whose_log_nobody_reads_answers_and_stops() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = binary(&dir)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    // Whoever read the log is gone: every line that is logged from here on is an error to write.
    drop(server.stderr.take());
    let answer = http().get(format!("{}/api/me", address.trim())).send().await.unwrap();
    assert_eq!(answer.status(), 401);
    terminate(&server);
    let ended = tokio::task::spawn_blocking(move || server.wait().unwrap()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
}
