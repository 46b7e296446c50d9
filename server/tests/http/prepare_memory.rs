//! For each route of agents and their memory: a document, and a request that succeeds for whoever is permitted.

use crate::{
    app::Who,
    prepare::{Maker, Sent, form, multipart, unique_text},
};
use reqwest::Method;
use serde_json::{Value, json};

/// A character card of version 2.
pub fn card() -> Value {
    let data = json!({ "name": "Matrix", "description": "A card.", "first_mes": "Hello." });
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": data })
}

/// A session that wrote nothing.
const SESSION: &str = "01940000-0000-7000-8000-000000000001";

/// The concrete path of an operation with its query, and its body. `at` is a document at version 1.
pub fn operation(method: &str, path: &str, agent: &str, at: &str) -> (String, Option<Value>) {
    let concrete = path.replace("{slug}", agent);
    let last = path.rsplit('/').next().unwrap_or_default();
    let (query, body) = match (method, last) {
        ("GET", "document" | "diff" | "blame") => (format!("?path={at}"), None),
        ("GET", "memory") if path.starts_with("/agents") => (format!("?path={at}&view=history"), None),
        ("GET", "session") => (format!("?id={SESSION}"), None),
        ("GET", "channel") => ("?platform=discord&channel=7".to_owned(), None),
        ("GET", "search") => ("?q=matrix".to_owned(), None),
        ("GET", _) => (String::new(), None),
        ("DELETE", "document") => (format!("?path={at}&baseVersion=1"), None),
        ("PUT", "document") => (format!("?path={at}"), Some(json!({ "baseVersion": 1, "text": "changed\n" }))),
        ("PUT", "card") => (String::new(), Some(card())),
        ("POST", "rename") => {
            let new_path = at.replace(".md", "-2.md");
            (String::new(), Some(json!({ "path": at, "newPath": new_path, "baseVersion": 1 })))
        }
        ("POST", "revert") => (String::new(), Some(json!({ "path": at, "toVersion": 1, "baseVersion": 1 }))),
        ("POST", "erase") => (String::new(), Some(json!({ "path": at }))),
        ("POST", "flush") => (String::new(), None),
        ("POST", "revert-session") => (String::new(), Some(json!({ "sessionId": SESSION, "apply": true }))),
        ("POST", "tool") => (String::new(), Some(json!({ "command": "view", "path": "/memories" }))),
        _ => panic!("no request is prepared for {method} {path}"),
    };
    (format!("{concrete}{query}"), body)
}

impl Maker<'_> {
    /// Returns the whole path of the request, and its body.
    pub async fn memory(&self, method: &str, path: &str) -> (String, Sent) {
        let at = format!("topics/{}.md", unique_text());
        let new = json!({ "baseVersion": 0, "text": "matrix\n" });
        let document = format!("/api/agents/matrix/memory/document?path={at}");
        self.app.request(Who::Operator, Method::PUT, &document).json(&new).send().await.unwrap();
        if method == "GET" && path.contains("/card") {
            let upload = self.app.request(Who::Operator, Method::PUT, "/api/agents/matrix/card");
            upload.json(&card()).send().await.unwrap();
        }
        if method == "POST" && path == "/agents/{slug}/memory" {
            let fields = [("step", "save"), ("path", at.as_str()), ("baseVersion", "1"), ("text", "changed")];
            return (path.replace("{slug}", "matrix"), form(&fields));
        }
        if method == "POST" && path == "/agents/{slug}/card" {
            let fields = [("step", "preview"), ("card", &*card().to_string())];
            return (path.replace("{slug}", "matrix"), multipart(&fields));
        }
        if method == "POST" && path == "/agents/{slug}/memory/session" {
            return (path.replace("{slug}", "matrix"), form(&[("session", SESSION)]));
        }
        if method == "POST" && path == "/agents/{slug}/memory/runs" {
            return (path.replace("{slug}", "matrix"), form(&[("step", "flush")]));
        }
        let (concrete, body) = operation(method, path, "matrix", &at);
        (concrete, body.map_or(Sent::Nothing, Sent::Json))
    }
}
