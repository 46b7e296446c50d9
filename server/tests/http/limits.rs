//! P-36, P-37: slow or endless requests are ended, and other clients are served as before.

use crate::{
    app::{App, PASSWORD, Who, problem},
    routes::{documented, pages},
};
use domain::limit::{
    BATCH_BYTES_MAX, BATCH_EVENTS_MAX, MEMORY_CARD_BYTES_MAX, MEMORY_CARD_REQUESTS_MAX,
    MEMORY_CARD_REQUESTS_OF_CALLER_MAX,
};
use futures_util::{FutureExt as _, future::select_all};
use reqwest::Method;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Longest time until the server ends a request. The promise is 10 s; a loaded test machine gets some more.
const END_MAX: Duration = Duration::from_secs(20);

/// Reads until the server closes the connection.
async fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_are_disconnected_while_others_are_served() {
    let app = App::start();
    let token = app.token(Who::Operator).unwrap().to_owned();
    let silent = (0..100).map(|_| TcpStream::connect(&app.address));
    let mut silent: Vec<_> = futures_util::future::join_all(silent).await.into_iter().map(Result::unwrap).collect();
    let mut slow_head = TcpStream::connect(&app.address).await.unwrap();
    slow_head.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ").await.unwrap();
    let mut slow_bodies = Vec::new();
    for path in ["/api/actions", "/fn/working-on/record"] {
        let mut stream = TcpStream::connect(&app.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\norigin: {}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{{",
            app.address, app.url
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow_bodies.push((path, stream));
    }
    let ok = app.request(Who::Operator, Method::GET, "/api/me").send().await.unwrap();
    assert_eq!(ok.status(), 200, "a normal client is served meanwhile");
    let cut = async {
        until_closed(&mut slow_head).await;
        for stream in &mut silent {
            until_closed(stream).await;
        }
        let mut answers = Vec::new();
        for (path, stream) in &mut slow_bodies {
            answers.push((*path, until_closed(stream).await));
        }
        answers
    };
    for (path, answer) in timeout(END_MAX, cut).await.expect("slow connections stay open") {
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 408"), "{path}: {answer}");
    }
}

/// Largest body that the server reads, as in `middleware/body.rs`.
const BODY_BYTES_MAX: usize = BATCH_BYTES_MAX + BATCH_EVENTS_MAX * 1024;
/// Largest body of the two routes that take a character card.
const CARD_BODY_BYTES_MAX: usize = MEMORY_CARD_BYTES_MAX + 16 * 1024;
/// More than the server reads of a refused body and more than the buffers of both sockets.
const SWALLOWED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Starts a request whose body is sent in chunks, without a length.
async fn begin(app: &App, cookie: &str, method: &Method, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&app.address).await.unwrap();
    let token = app.token(Who::Admin).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncookie: {cookie}\r\norigin: {}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        app.address, app.url
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn status(stream: &mut TcpStream) -> String {
    let mut status = [0; 12];
    let read = timeout(END_MAX, stream.read_exact(&mut status)).await.expect("no answer");
    read.expect("the connection was reset instead of answered");
    String::from_utf8_lossy(&status).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_over_the_limit_is_refused_on_every_unsafe_route() {
    let app = App::start();
    let cookie = app.cookie().await;
    let mut routes = documented(&app).await;
    routes.extend(pages());
    for (method, path) in routes.iter().filter(|(method, _)| method != Method::GET) {
        let path = path
            .replace("{id}", "00000000-0000-7000-8000-000000000000")
            .replace("{source}", "claude-code")
            .replace("{slug}", "matrix")
            .replace("{name}", "KEY");
        let mut stream = begin(&app, &cookie, method, &path).await;
        let bytes = 1 + if path.ends_with("/agents/matrix/card") { CARD_BODY_BYTES_MAX } else { BODY_BYTES_MAX };
        stream.write_all(format!("{bytes:x}\r\n").as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; bytes]).await.unwrap();
        // The body has not ended, so its size is the only possible reason.
        assert_eq!(status(&mut stream).await, "HTTP/1.1 413", "{method} {path}");
    }
    let body = "{\"name\":\"x\"}";
    let largest = format!("{body}{}", " ".repeat(BODY_BYTES_MAX - body.len()));
    for (body, expected) in [(largest.clone(), 201), (largest + " ", 413)] {
        let request = app.request(Who::Admin, Method::POST, "/api/actions").header("content-type", "application/json");
        let answer = request.body(body).send().await.unwrap();
        assert_eq!(answer.status(), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_body_is_refused_and_memory_does_not_grow() {
    let app = App::start();
    let cookie = app.cookie().await;
    let before = app.resident_kib();
    for path in ["/api/actions", "/api/sessions/claim", "/sign-in", "/settings/tokens"] {
        let stream = begin(&app, &cookie, &Method::POST, path).await;
        let (mut reader, mut writer) = stream.into_split();
        let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
        let send = async {
            let mut sent = 0;
            while writer.write_all(&chunk).await.is_ok() {
                sent += chunk.len();
                assert!(sent < SWALLOWED_BYTES_MAX, "{path} swallowed {sent} bytes");
            }
        };
        let mut answer = [0; 12];
        // A client that continues to send may see a reset before the answer. The test above stops in time.
        let (read, ()) =
            tokio::join!(reader.read_exact(&mut answer), timeout(END_MAX, send).map(|cut| cut.expect(path)));
        assert!(read.is_err() || &answer == b"HTTP/1.1 413", "{path}: {}", String::from_utf8_lossy(&answer));
    }
    let grown = app.resident_kib().saturating_sub(before);
    assert!(grown < 64 * 1024, "memory grew by {grown} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_over_the_limit_is_refused_and_one_below_it_is_not() {
    let app = App::start();
    for (kib, expected) in [(48, "HTTP/1.1 200"), (66, "HTTP/1.1 431"), (100, "HTTP/1.1 431"), (120, "HTTP/1.1 431")] {
        // All bytes in one header value, and in many.
        for fields in [1, kib] {
            let field = format!("x-long: {}\r\n", "x".repeat(kib * 1024 / fields));
            let request =
                format!("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{}\r\n", field.repeat(fields));
            let stream = TcpStream::connect(&app.address).await.unwrap();
            let (mut answers, mut requests) = stream.into_split();
            let sent = tokio::spawn(async move {
                // The server may close the connection before it has read everything.
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

/// Longest path and query of an address, in bytes.
const TARGET_BYTES_MAX: usize = 32 * 1024;

/// A path with a query, of this many bytes together.
fn target(path: &str, bytes: usize) -> String {
    format!("{path}?title={}", "x".repeat(bytes - path.len() - "?title=".len()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_over_the_limit_is_refused_with_a_problem() {
    let app = App::start();
    for (bytes, expected) in [(TARGET_BYTES_MAX, 422), (TARGET_BYTES_MAX + 1, 414), (60_000, 414)] {
        for who in [Who::Operator, Who::Anonymous] {
            let expected = if expected == 422 && who == Who::Anonymous { 401 } else { expected };
            let answer = app.request(who, Method::GET, &target("/api/sessions", bytes)).send().await.unwrap();
            let (status, problem) = problem(answer).await;
            assert_eq!(status, expected, "{bytes} bytes: {problem}");
            assert_eq!(problem["code"] == "target_too_long", expected == 414, "{problem}");
            assert!(expected != 414 || problem["detail"].as_str().unwrap().contains(&bytes.to_string()), "{problem}");
        }
    }
    let shortest = app.request(Who::Anonymous, Method::GET, "/").send().await.unwrap();
    assert!(!shortest.status().is_client_error(), "{}", shortest.status());
    for (bytes, is_refused) in [(TARGET_BYTES_MAX, false), (TARGET_BYTES_MAX + 1, true)] {
        let page = app.request(Who::Anonymous, Method::GET, &target("/sessions", bytes));
        let page = page.header("accept", "text/html").send().await.unwrap();
        assert_eq!(page.status() == 414, is_refused, "{bytes} bytes");
        let page = page.text().await.unwrap();
        assert_eq!(page.contains("That address is too long"), is_refused, "{bytes} bytes: {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_not_read_is_refused_without_a_body() {
    let app = App::start();
    let head = format!("GET {} HTTP/1.1\r\nhost: x\r\n\r\n", target("/api/sessions", 65_600));
    let mut stream = TcpStream::connect(&app.address).await.unwrap();
    let _ = stream.write_all(head.as_bytes()).await;
    assert_eq!(status(&mut stream).await, "HTTP/1.1 414");
}

/// Begins a request without credentials and sends these bytes of its body, which announces more. The server may close
/// the connection before it has read them.
async fn stranger(app: &App, method: &str, path: &str, announced: usize, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(&app.address).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {announced}\r\n\r\n",
        app.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let _ = stream.write_all(sent).await;
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_path_is_not_found_whoever_sends_whatever_body() {
    let app = App::start();
    for path in ["/api/nothing", "/api/sessions/x/nothing", "/api", "/nothing", "/fn/nothing"] {
        for bytes in [0, 1, 100_000, BODY_BYTES_MAX + 1] {
            for who in [Who::Anonymous, Who::Member] {
                let request = app.request(who, Method::POST, path).header("content-type", "application/json");
                let answer = request.body(vec![b' '; bytes]).send().await.unwrap();
                assert_eq!(answer.status(), 404, "{path}, {bytes} bytes, {who:?}");
            }
        }
        let mut unfinished = stranger(&app, "POST", path, 1_000, b"x").await;
        assert_eq!(status(&mut unfinished).await, "HTTP/1.1 404", "{path}");
    }
    let known = app.request(Who::Anonymous, Method::POST, "/api/actions").body("{}").send().await.unwrap();
    assert_eq!(known.status(), 401);
}

/// Signs in from this address, as a proxy on this machine reports it.
async fn sign_in_from(app: &App, address: &str) -> reqwest::StatusCode {
    let request = app.http.post(format!("{}/sign-in", app.url)).header("origin", &app.url);
    let request = request.header("x-forwarded-for", address);
    let answer = request.form(&[("email", "ada@acme.test"), ("password", PASSWORD)]).send().await.unwrap();
    answer.status()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_strangers_hold_little_memory_and_others_are_served() {
    const STRANGERS: usize = 400;
    let app = App::start();
    let before = app.resident_kib();
    // What any caller with credentials may send, but for its last bytes.
    let large = vec![b'x'; 1_500_000];
    let unfinished = (0..STRANGERS).map(|_| stranger(&app, "POST", "/api/actions", BODY_BYTES_MAX, &large));
    for mut stream in futures_util::future::join_all(unfinished).await {
        assert_eq!(status(&mut stream).await, "HTTP/1.1 401");
    }
    // Forms that anyone may send, without their last bytes, until their network has used up its share.
    let form = vec![b'x'; 300_000];
    let mut held = Vec::new();
    let unfinished = (0..STRANGERS).map(|_| stranger(&app, "POST", "/sign-in", form.len() + 1, &form));
    let mut refused = 0;
    for mut stream in futures_util::future::join_all(unfinished).await {
        let mut first = [0; 12];
        match stream.read_exact(&mut first).now_or_never() {
            Some(Ok(_)) if &first == b"HTTP/1.1 429" => refused += 1,
            _ => held.push(stream),
        }
    }
    let grown = app.resident_kib().saturating_sub(before);
    assert!(grown < 96 * 1024, "memory grew by {grown} KiB; {refused} were refused");
    assert_eq!(sign_in_from(&app, "198.51.100.7").await, 303, "another network");
    let made = app.request(Who::Operator, Method::POST, "/api/actions").json(&serde_json::json!({ "name": "a" }));
    assert_eq!(made.send().await.unwrap().status(), 201, "a caller with credentials");
    drop(held);
    app.until_logged(0, "bodies of requests without credentials were refused").await;
    let lines = app.log().matches("bodies of requests without credentials were refused").count();
    assert!(lines < 10, "{lines} lines for refusals of the same kind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_cards_of_strangers_take_no_place_from_people() {
    let app = App::start();
    let mut waiting = Vec::new();
    for path in ["/api/agents/iris/card", "/agents/iris/card"] {
        let method = if path.starts_with("/api") { "PUT" } else { "POST" };
        for _ in 0..MEMORY_CARD_REQUESTS_MAX {
            let mut refused = stranger(&app, method, path, MEMORY_CARD_BYTES_MAX, b"x").await;
            assert_eq!(status(&mut refused).await, "HTTP/1.1 401", "{path}");
            waiting.push(stranger(&app, method, path, 1_000, b"x").await);
        }
    }
    let upload = app.request(Who::Operator, Method::PUT, "/api/agents/iris/card");
    let given = upload.json(&crate::prepare_memory::card()).send().await.unwrap();
    assert_eq!(given.status(), 200, "{}", given.text().await.unwrap());
}

/// Begins to upload a card with the credentials of this caller, and sends its first byte only.
async fn unfinished_card(app: &App, who: Who) -> TcpStream {
    let mut stream = TcpStream::connect(&app.address).await.unwrap();
    let head = format!(
        "PUT /api/agents/iris/card HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: image/png\r\ncontent-length: 1000\r\n\r\nx",
        app.address,
        app.token(who).unwrap()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_cards_of_people_take_places_of_their_own_only() {
    let app = App::start();
    let mut open = Vec::new();
    for who in [Who::Member, Who::Reviewer, Who::Admin, Who::Stranger] {
        for _ in 0..MEMORY_CARD_REQUESTS_OF_CALLER_MAX {
            open.push(unfinished_card(&app, who).await);
        }
        // One more than the caller may have open: whichever comes last is refused, and the others wait for their bytes.
        open.push(unfinished_card(&app, who).await);
        let (refused, at, _) = select_all(open.iter_mut().map(|stream| status(stream).boxed())).await;
        assert_eq!(refused, "HTTP/1.1 503", "{who:?}");
        open.swap_remove(at);
    }
    let upload = app.request(Who::Operator, Method::PUT, "/api/agents/iris/card");
    let given = upload.json(&crate::prepare_memory::card()).send().await.unwrap();
    assert_eq!(given.status(), 200, "{}", given.text().await.unwrap());
}
