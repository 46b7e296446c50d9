//! An HTTP service for the calls of tools: it answers well, badly, late or never.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, stream};
use serde_json::json;
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// Calls that came in, and those that were broken off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub calls: usize,
    pub broken_off: usize,
}

#[derive(Clone)]
struct Shared {
    seen: watch::Sender<Seen>,
    paths: Arc<Mutex<Vec<String>>>,
}

/// A running service. It ends when dropped.
pub struct Service {
    pub address: SocketAddr,
    shared: Shared,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Shared { seen: watch::Sender::new(Seen::default()), paths: Arc::default() };
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared, task }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn seen(&self) -> Seen {
        *self.shared.seen.borrow()
    }

    /// Waits until this is true of the calls.
    pub async fn until(&self, is_so: impl Fn(&Seen) -> bool) {
        let mut seen = self.shared.seen.subscribe();
        let waited = tokio::time::timeout(std::time::Duration::from_secs(20), seen.wait_for(|seen| is_so(seen))).await;
        assert!(waited.is_ok(), "{:?}", self.seen());
    }

    /// The paths that were called.
    pub fn paths(&self) -> Vec<String> {
        self.shared.paths.lock().unwrap().clone()
    }
}

/// Counts a call that ends without an answer.
struct Guard(Option<watch::Sender<Seen>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(seen) = &self.0 {
            seen.send_modify(|seen| seen.broken_off += 1);
        }
    }
}

async fn answer(State(shared): State<Shared>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    shared.paths.lock().unwrap().push(path.clone());
    let mut before = 0;
    shared.seen.send_modify(|seen| {
        before = seen.calls;
        seen.calls += 1;
    });
    let mut guard = Guard(Some(shared.seen.clone()));
    let answer = match path.as_str() {
        "/never" => std::future::pending().await,
        "/endless" => {
            let more = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b'a'; 16_384])));
            return Body::from_stream(more.inspect(move |_| _ = &guard)).into_response();
        }
        "/huge" => vec![b'a'; 100 * 1024 * 1024].into_response(),
        "/redirect" => (StatusCode::FOUND, [(header::LOCATION, "/ok")]).into_response(),
        "/html" => ([(header::CONTENT_TYPE, "text/html")], "<script>alert(1)</script>\u{1b}[31mred").into_response(),
        "/no-json" => ([(header::CONTENT_TYPE, "application/json")], "{\"a\":").into_response(),
        "/number" => axum::Json(json!(7)).into_response(),
        "/refused" => {
            (StatusCode::FORBIDDEN, format!("no: {}", headers["authorization"].to_str().unwrap())).into_response()
        }
        "/flaky" if before < 2 => (StatusCode::SERVICE_UNAVAILABLE, "later").into_response(),
        _ => {
            let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
            let echoed = json!({
                "method": method.as_str(), "uri": uri.to_string(), "body": String::from_utf8_lossy(&body),
                "contentType": header("content-type"), "authorization": header("authorization"),
                "note": header("x-note"),
            });
            axum::Json(echoed).into_response()
        }
    };
    guard.0 = None;
    answer
}
