//! P-36, P-37: slow or endless requests are cut, and cost others nothing.

use crate::app::{App, Who};
use reqwest::Method;
use std::time::{Duration, Instant};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// The promise is 10 s; a loaded test machine gets some slack on top.
const CUT_MAX: Duration = Duration::from_secs(20);

/// Reads until the server closes.
async fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_are_cut_while_others_are_served() {
    let app = App::start();
    let token = app.token(Who::Operator).unwrap().to_owned();
    let silent = (0..100).map(|_| TcpStream::connect(&app.address));
    let mut silent: Vec<_> = futures_util::future::join_all(silent).await.into_iter().map(Result::unwrap).collect();
    let mut slow_head = TcpStream::connect(&app.address).await.unwrap();
    slow_head.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ").await.unwrap();
    let mut slow_body = TcpStream::connect(&app.address).await.unwrap();
    let head = format!(
        "POST /api/actions HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{{",
        app.address
    );
    slow_body.write_all(head.as_bytes()).await.unwrap();
    let began = Instant::now();
    let ok = app.request(Who::Operator, Method::GET, "/api/me").send().await.unwrap();
    assert_eq!(ok.status(), 200, "a normal client is served meanwhile");
    let cut = async {
        until_closed(&mut slow_head).await;
        for stream in &mut silent {
            until_closed(stream).await;
        }
        until_closed(&mut slow_body).await
    };
    let answer = timeout(CUT_MAX, cut).await.expect("slow connections stay open");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(began.elapsed() > Duration::from_secs(2), "a merely unhurried client is not cut");
}

#[tokio::test]
async fn an_endless_body_is_refused_on_every_unsafe_route_and_memory_stays_flat() {
    let app = App::start();
    let cookie = app.cookie().await;
    let before = app.resident_kib();
    for path in
        ["/api/actions", "/api/sessions", "/api/sessions/claim", "/sign-in", "/setup", "/actions", "/settings/tokens"]
    {
        let mut stream = TcpStream::connect(&app.address).await.unwrap();
        let token = app.token(Who::Admin).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncookie: {cookie}\r\norigin: {}\r\n\
             content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
            app.address, app.url
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = stream.into_split();
        let send = async {
            let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
            // A gigabyte, if anybody takes it.
            for _ in 0..16_384 {
                if writer.write_all(&chunk).await.is_err() {
                    return;
                }
            }
            panic!("{path} swallowed a gigabyte");
        };
        let mut answer = [0; 12];
        let answered = async { reader.read_exact(&mut answer).await };
        let done = tokio::select! {
            () = send => answered_or_reset(&mut reader).await,
            read = answered => read.map(|_| answer).ok(),
        };
        if let Some(status) = done {
            assert_eq!(&status, b"HTTP/1.1 413", "{path}");
        }
    }
    let large = app.request(Who::Admin, Method::POST, "/api/actions").header("content-type", "application/json");
    let refused = large.body("x".repeat(3 * 1024 * 1024)).send().await;
    assert!(refused.is_err() || refused.unwrap().status() == 413);
    let grown = app.resident_kib().saturating_sub(before);
    assert!(grown < 64 * 1024, "memory grew by {grown} KiB");
}

/// The status line, where it arrived before the connection was reset.
async fn answered_or_reset(reader: &mut tokio::net::tcp::OwnedReadHalf) -> Option<[u8; 12]> {
    let mut answer = [0; 12];
    reader.read_exact(&mut answer).await.ok().map(|_| answer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_over_the_limit_is_refused_and_one_below_it_is_not() {
    let app = App::start();
    for (kib, expected) in [(48, "HTTP/1.1 200"), (66, "HTTP/1.1 431"), (100, "HTTP/1.1 431"), (120, "HTTP/1.1 431")] {
        // In one value, and in many.
        for fields in [1, kib] {
            let field = format!("x-long: {}\r\n", "x".repeat(kib * 1024 / fields));
            let request =
                format!("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{}\r\n", field.repeat(fields));
            let stream = TcpStream::connect(&app.address).await.unwrap();
            let (mut answers, mut requests) = stream.into_split();
            let sent = tokio::spawn(async move {
                // The server may close before it has read all of it.
                let _ = requests.write_all(request.as_bytes()).await;
                requests
            });
            let mut answer = Vec::new();
            let _ = answers.read_to_end(&mut answer).await;
            let _ = sent.await;
            let answer = String::from_utf8_lossy(&answer);
            assert!(answer.starts_with(expected), "{kib} KiB in {fields}: {answer}");
        }
    }
}
