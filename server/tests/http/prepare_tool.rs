//! Tools and drafts of their runs for the matrix.

use crate::prepare::{Maker, Sent, tool_result, unique_text, worker_tool};
use reqwest::Method;
use serde_json::{Value, json};

impl Maker<'_> {
    /// A draft that the owner opened of a run of a tool.
    async fn tool_draft(&self) -> String {
        let path = format!("/api/tools/{}/sessions", self.tool(true).await);
        let opened = self.owner().post(self.app, &path, json!({})).await;
        opened["id"].as_str().unwrap().to_owned()
    }

    /// The object and the body of a request about tools and their runs.
    pub async fn tool_request(&self, method: &str, path: &str) -> (String, Sent) {
        let (object, body) = match (method, path) {
            ("POST", "/api/tools") => {
                let mut new = worker_tool();
                new["slug"] = unique_text().into();
                (String::new(), new)
            }
            ("PATCH", "/api/tools/{slug}") => (self.tool(false).await, json!({ "revision": 1, "name": "changed" })),
            ("POST", "/api/tools/{slug}/publish") => (self.tool(false).await, json!({})),
            ("POST", "/api/tools/{slug}/run") => (self.tool(true).await, json!({ "input": {} })),
            ("POST", "/api/tools/{slug}/unpublish") => (self.tool(true).await, Value::Null),
            ("DELETE", "/api/tools/{slug}") => (self.tool(false).await, Value::Null),
            ("PUT", "/api/tools/{slug}/secrets/{name}") => {
                let slug = self.tool(false).await;
                (format!("/api/tools/{slug}/secrets/KEY"), json!({ "value": "x" }))
            }
            ("DELETE", "/api/tools/{slug}/secrets/{name}") => (self.tool_secret().await, Value::Null),
            ("POST", "/api/tools/{slug}/test") => (self.tool(false).await, json!({ "input": {} })),
            ("POST", "/api/tools/{slug}/sessions") => (self.tool(true).await, json!({ "fields": {} })),
            ("PUT", "/api/tools/{slug}/inputs/{name}") => {
                (format!("/api/tools/{}/inputs/Matrix", self.tool(true).await), json!({ "fields": {} }))
            }
            ("DELETE", "/api/tools/{slug}/inputs/{name}") => {
                let path = format!("/api/tools/{}/inputs/Matrix", self.tool(true).await);
                let save = self.person.request(self.app, Method::PUT, &path).json(&json!({ "fields": {} }));
                save.send().await.unwrap();
                (path, Value::Null)
            }
            ("PATCH", "/api/tool-sessions/{id}/fields") => {
                (self.tool_draft().await, json!({ "rev": 1, "fields": { "why": "x" } }))
            }
            ("POST", "/api/tool-sessions/{id}/promote") => tool_result(self.app, "{id}").await,
            ("POST", "/api/tool-sessions/{id}/run") => (self.tool_draft().await, json!({})),
            _ => panic!("no request is prepared for {method} {path}"),
        };
        (object, if body.is_null() { Sent::Nothing } else { Sent::Json(body) })
    }
}
