//! What a call sends and hears, and where it gives up.

use crate::support::{FakeResolver, Server, client, get};
use outbound::{Error, Hosts, Method, Request, limit};
use std::sync::Arc;

#[tokio::test]
async fn a_call_sends_what_it_was_given_and_hears_what_came_back() {
    let answer = "HTTP/1.1 201 Created\r\nX-Kept: a\r\ncontent-length: 2\r\n\r\nok";
    let server = Server::start("127.0.0.2", answer).await;
    let resolver = Arc::new(FakeResolver::default().name("api.example.org", &[&["127.0.0.2"]]));
    let request = Request {
        method: Method::POST,
        headers: vec![("X-Given".into(), "b".into())],
        body: "{\"a\":1}".into(),
        hosts: Hosts::only(&[format!("*.example.org:{}", server.address.port())]).unwrap(),
        ..get(&format!("http://api.example.org:{}/p?q=1#f", server.address.port()))
    };
    let response = client(resolver).fetch(request).await.unwrap();
    assert_eq!((response.status, &response.body[..], response.header("x-kept")), (201, &b"ok"[..], Some("a")));
    let heard = server.requests.lock().unwrap().join("");
    assert!(heard.starts_with("POST /p?q=1 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("x-given: b\r\n") && heard.ends_with("\r\n\r\n{\"a\":1}"), "{heard}");
    assert!(!heard.contains("referer") && !heard.contains("accept-encoding"), "{heard}");
}

#[tokio::test]
async fn hosts_outside_of_the_list_are_not_even_looked_up() {
    let resolver = Arc::new(FakeResolver::default().name("other.example", &[&["127.0.0.2"]]));
    let request = Request { hosts: Hosts::only(&["api.example.org"]).unwrap(), ..get("http://other.example/") };
    let refused = client(resolver.clone()).fetch(request).await.unwrap_err();
    assert_eq!((refused, resolver.lookups()), (Error::NotAllowed("other.example".into()), 0));
}

#[tokio::test]
async fn requests_that_would_say_something_else_are_refused() {
    let server = Server::start("127.0.0.2", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let base = get(&format!("http://{}/", server.address));
    let client = client(Arc::default());
    let with = |name: &str, value: &str| Request { headers: vec![(name.into(), value.into())], ..base.clone() };
    for request in [
        with("Host", "127.0.0.1"),
        with("Content-Length", "0"),
        with("Transfer-Encoding", "chunked"),
        with("a b", "c"),
        with("x", "a\r\nhost: b"),
        with("x", &"a".repeat(limit::HEADER_BYTES_MAX)),
        Request { headers: vec![("x".into(), "y".into()); limit::HEADERS_MAX + 1], ..base.clone() },
        Request { method: Method::CONNECT, ..base.clone() },
        Request { method: Method::TRACE, ..base.clone() },
        Request { body: vec![0; limit::BODY_BYTES_MAX + 1].into(), ..base.clone() },
    ] {
        let refused = client.fetch(request.clone()).await.unwrap_err();
        assert!(matches!(refused, Error::Request(_)), "{refused}");
    }
    let long = format!("http://{}/{}", server.address, "a".repeat(limit::URL_BYTES_MAX));
    assert!(matches!(client.fetch(get(&long)).await, Err(Error::Address(_))));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn answers_beyond_the_limits_are_given_up() {
    let large = "a".repeat(limit::BODY_BYTES_MAX + 1);
    let said = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{large}", large.len());
    let unsaid = format!("HTTP/1.1 200 OK\r\n\r\n{large}");
    let headers = format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 0\r\n\r\n", &large[..limit::HEADER_BYTES_MAX]);
    for answer in [said, unsaid, headers] {
        let server = Server::start("127.0.0.2", &answer).await;
        let refused = client(Arc::default()).fetch(get(&format!("http://{}/", server.address))).await.unwrap_err();
        assert!(matches!(refused, Error::TooLarge(_)), "{refused}");
    }
    let exactly = format!("HTTP/1.1 200 OK\r\n\r\n{}", &large[1..]);
    let server = Server::start("127.0.0.2", &exactly).await;
    let response = client(Arc::default()).fetch(get(&format!("http://{}/", server.address))).await.unwrap();
    assert_eq!(response.body.len(), limit::BODY_BYTES_MAX);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(limit::HEADERS_MAX + 1));
    let server = Server::start("127.0.0.2", &many).await;
    assert!(client(Arc::default()).fetch(get(&format!("http://{}/", server.address))).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn silence_ends_in_time() {
    let server = Server::start("127.0.0.2", "").await;
    let client = client(Arc::default());
    let refused = client.fetch(get(&format!("http://{}/", server.address))).await.unwrap_err();
    assert!(matches!(refused, Error::Timeout) && refused.is_retryable(), "{refused}");
}

#[tokio::test]
async fn a_closed_port_and_an_unknown_name_say_so() {
    let client = client(Arc::default());
    let unknown = client.fetch(get("http://nowhere.example/")).await.unwrap_err();
    assert_eq!(unknown, Error::Lookup { host: "nowhere.example".into(), reason: "no such name".into() });
    assert!(unknown.is_retryable());
    let closed = client.fetch(get("http://127.0.0.2:1/")).await.unwrap_err();
    assert!(matches!(closed, Error::Unreachable(_)) && closed.is_retryable(), "{closed}");
}
