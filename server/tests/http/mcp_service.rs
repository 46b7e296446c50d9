//! An MCP server for tests, over streamable HTTP: it answers well, badly, late or without end.

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// A running server. It ends when dropped.
pub struct McpService {
    address: SocketAddr,
    /// The methods that were asked for, in their order, and `DELETE` for each session that was ended.
    asked: watch::Sender<Vec<String>>,
    task: JoinHandle<()>,
}

impl Drop for McpService {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl McpService {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = watch::Sender::new(Vec::new());
        let router = Router::new().fallback(answer).with_state(asked.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, asked, task }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Waits until the server was asked for this method so often.
    pub async fn until(&self, method: &str, count: usize) {
        let mut asked = self.asked.subscribe();
        let is_there = |asked: &Vec<String>| asked.iter().filter(|known| *known == method).count() >= count;
        let waited = tokio::time::timeout(std::time::Duration::from_secs(20), asked.wait_for(is_there)).await;
        assert!(waited.is_ok(), "{method} is not in {:?}", *self.asked.borrow());
    }
}

type Methods = watch::Sender<Vec<String>>;

async fn answer(State(asked): State<Methods>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    if method == Method::DELETE {
        asked.send_modify(|asked| asked.push("DELETE".to_owned()));
        return StatusCode::NO_CONTENT.into_response();
    }
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = request["method"].as_str().unwrap_or_default().to_owned();
    asked.send_modify(|asked| asked.push(name.clone()));
    match uri.path() {
        "/redirect" => return (StatusCode::FOUND, [(header::LOCATION, "/mcp")]).into_response(),
        "/html" => return ([(header::CONTENT_TYPE, "text/html")], "<b>\u{1b}[31mno").into_response(),
        "/unauthorized" => {
            let key = headers["authorization"].to_str().unwrap_or_default();
            return (StatusCode::UNAUTHORIZED, format!("wrong key {key}")).into_response();
        }
        _ => {}
    }
    let result = match name.as_str() {
        "initialize" => {
            let session = [("mcp-session-id", "session-1")];
            let result = json!({
                "protocolVersion": request["params"]["protocolVersion"], "capabilities": { "tools": {} },
                "serverInfo": { "name": "test", "version": "1" },
            });
            return (session, Json(reply(&request, &result))).into_response();
        }
        "tools/list" => tools(uri.path(), &request["params"]["cursor"]),
        "tools/call" => return call(&request, &headers).await,
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(reply(&request, &result)).into_response()
}

fn reply(request: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

/// A page of the list of this path.
fn tools(path: &str, cursor: &Value) -> Value {
    let object = json!({ "type": "object" });
    let echo = json!({
        "name": "echo", "title": "\u{1b}[31mEcho\u{202e}", "description": "Says it again.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": { "text": { "type": "string" } },
        },
    });
    let named = |name: &str| json!({ "name": name, "inputSchema": object });
    match path {
        "/changed" => {
            let mut changed = echo;
            changed["inputSchema"]["properties"]["loud"] = json!({ "type": "boolean" });
            json!({ "tools": [changed, named("slow")] })
        }
        "/wrong" => json!({ "tools": "none" }),
        "/large" => json!({ "tools": [{ "name": "x", "inputSchema": object, "description": "x".repeat(2_000_000) }] }),
        "/hostile" => {
            let bomb = (0..100).fold(json!({}), |inner, _| json!({ "not": inner }));
            let deep = json!({ "name": "deep", "inputSchema": { "type": "object", "not": bomb } });
            json!({ "tools": [named("<script>alert(1)</script>"), named("\u{1b}[2Jclear"), deep, named("fine")] })
        }
        // Without end: each page leads to the next.
        "/pages" => {
            let page = cursor.as_str().and_then(|page| page.parse::<u32>().ok()).unwrap_or_default();
            json!({ "tools": [named(&format!("tool-{page}"))], "nextCursor": (page + 1).to_string() })
        }
        _ if cursor.is_null() => json!({ "tools": [echo, named("slow")], "nextCursor": "2" }),
        _ => {
            let names = ["events", "fails", "endless", "huge", "wrong", "ends", "refuses", "steps"];
            json!({ "tools": names.map(named) })
        }
    }
}

async fn call(request: &Value, headers: &HeaderMap) -> Response {
    let arguments = &request["params"]["arguments"];
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let events = |data: String| ([(header::CONTENT_TYPE, "text/event-stream")], data).into_response();
    match request["params"]["name"].as_str().unwrap_or_default() {
        "slow" => std::future::pending().await,
        "events" => {
            let token = &request["params"]["_meta"]["progressToken"];
            let progress = json!({
                "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": token, "progress": 1, "total": 2 },
            });
            events(format!("data: {progress}\n\ndata: {}\n\n", reply(request, &text("in a stream"))))
        }
        "steps" => {
            let key = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
            let progress = json!({
                "jsonrpc": "2.0", "method": "notifications/progress", "params": {
                    "progressToken": request["params"]["_meta"]["progressToken"], "progress": 0.5, "total": 2,
                    "message": format!("\u{1b}[31ma quarter\nwith {key}"),
                },
            });
            let first = Ok::<_, std::io::Error>(Bytes::from(format!("data: {progress}\n\n")));
            let body = Body::from_stream(stream::iter([first]).chain(stream::pending()));
            ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
        }
        "ends" => events(": nothing\n\n".to_owned()),
        "endless" => {
            let more = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(b"data: {}\n\n")));
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(more)).into_response()
        }
        "huge" => ([(header::CONTENT_TYPE, "application/json")], vec![b'a'; 100 * 1024 * 1024]).into_response(),
        "wrong" => Json(json!({ "jsonrpc": "2.0", "id": request["id"], "result": 7 })).into_response(),
        "refuses" => {
            let error = json!({ "code": -32602, "message": "no such \u{1b}[31marguments" });
            Json(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).into_response()
        }
        "fails" => {
            let mut failed = text("no file <b>here</b>");
            failed["isError"] = true.into();
            Json(reply(request, &failed)).into_response()
        }
        _ => {
            let key = headers.get("authorization").and_then(|value| value.to_str().ok());
            let mut result = text("echoed");
            result["structuredContent"] = json!({ "arguments": arguments, "key": key });
            Json(reply(request, &result)).into_response()
        }
    }
}
