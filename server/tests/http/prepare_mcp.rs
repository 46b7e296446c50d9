//! MCP servers for the matrix. None of them runs: a program that the operator does not allow is refused at once.

use crate::{
    app::{App, Who},
    prepare::{Maker, Sent, form, unique_text},
};
use serde_json::{Value, json};

/// The body of a request that adds an MCP server.
pub fn new_server() -> Value {
    json!({ "name": "Matrix", "slug": unique_text(), "transport": { "kind": "stdio", "program": "matrix" } })
}

/// Adds an MCP server. Returns its slug.
pub async fn made_server(app: &App) -> String {
    let made = app.post(Who::Operator, "/api/mcp-servers", new_server()).await;
    made["slug"].as_str().unwrap().to_owned()
}

impl Maker<'_> {
    /// The object and the body of a request about MCP servers.
    pub async fn mcp_request(&self, method: &str, path: &str) -> (String, Sent) {
        let sent = match (method, path) {
            ("GET", "/api/mcp-servers") => return (String::new(), Sent::Nothing),
            ("POST", "/api/mcp-servers") => return (String::new(), Sent::Json(new_server())),
            ("PATCH", _) => Sent::Json(json!({ "revision": 1, "name": "changed" })),
            (_, path) if path.ends_with("/import") => Sent::Json(json!({ "tools": ["echo"] })),
            _ => Sent::Nothing,
        };
        (made_server(self.app).await, sent)
    }

    /// The object and the form of a request to the pages of MCP servers.
    pub async fn mcp_page(&self, method: &str, path: &str) -> (String, Sent) {
        let slug = unique_text();
        let fields = [("name", "Matrix"), ("slug", slug.as_str()), ("kind", "stdio"), ("program", "matrix")];
        match (method, path) {
            ("GET", "/mcp-servers") => (String::new(), Sent::Nothing),
            ("POST", "/mcp-servers") => (String::new(), form(&fields)),
            ("GET", _) => (made_server(self.app).await, Sent::Nothing),
            _ => (made_server(self.app).await, form(&[("do", "delete")])),
        }
    }
}
