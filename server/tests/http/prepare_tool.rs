//! Tools and drafts of their runs for the matrix.

use crate::{
    app::Who,
    prepare::{Maker, Sent, form, tool_result, unique_text, worker_tool},
};
use reqwest::{
    Method,
    header::{LOCATION, SET_COOKIE},
};
use serde_json::{Value, json};

impl Maker<'_> {
    /// A draft that the owner opened of a run of a tool.
    async fn tool_draft(&self) -> String {
        let path = format!("/api/tools/{}/sessions", self.tool(true).await);
        let opened = self.owner().post(self.app, &path, json!({})).await;
        opened["id"].as_str().unwrap().to_owned()
    }

    /// The slug of a published tool that allows links.
    pub async fn linked_tool(&self) -> String {
        let slug = unique_text();
        let mut new = worker_tool();
        new["slug"] = slug.as_str().into();
        new["audience"] = json!({ "link": true });
        self.app.post(Who::Operator, "/api/tools", new).await;
        self.app.post(Who::Operator, &format!("/api/tools/{slug}/publish"), json!({})).await;
        slug
    }

    /// A link to a tool. Returns the secret and the id.
    pub async fn tool_link(&self) -> (String, String) {
        self.tool_link_to(&self.linked_tool().await).await
    }

    async fn tool_link_to(&self, tool: &str) -> (String, String) {
        let path = format!("/api/tools/{tool}/links");
        let made = self.admin().post(self.app, &path, json!({})).await;
        let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (secret, made["link"]["id"].as_str().unwrap().to_owned())
    }

    /// The object of a page of a link, a posted form if one is posted, and the cookies of a browser that opened it.
    pub async fn opened_tool_link(&self, method: &str, path: &str) -> (String, Sent, String) {
        let tool = self.linked_tool().await;
        let (secret, id) = self.tool_link_to(&tool).await;
        let entered = self.app.http.post(format!("{}/r/{secret}", self.app.url)).send().await.unwrap();
        let cookies: Vec<_> = entered.headers().get_all(SET_COOKIE).iter().map(|set| set.to_str().unwrap()).collect();
        let cookies = cookies.iter().map(|set| set.split(';').next().unwrap()).collect::<Vec<_>>().join("; ");
        let own = format!("/tool-links/{id}");
        let key = self.key(&own, &cookies).await;
        let fields = [("_key", key.as_str())];
        if method == "POST" {
            return (id, form(&fields), cookies);
        }
        if path == "/tool-links/{id}" {
            return (id, Sent::Nothing, cookies);
        }
        let request = self.app.http.post(format!("{}{own}", self.app.url)).header("cookie", &cookies);
        // One address begins few runs in an hour; the requests of the matrix come from another one.
        let request = request.header("sec-fetch-site", "same-origin").header("x-forwarded-for", "198.51.100.1");
        let begun = request.header("accept", "text/html").form(&fields).send().await.unwrap();
        let run = begun.headers()[LOCATION].to_str().unwrap().to_owned();
        if path.ends_with("/result") {
            // No worker claims it: a row before has revoked the token of the worker.
            let claim = json!({ "agentSlugs": [format!("tool:{tool}")] });
            self.app.post(Who::Operator, "/api/sessions/claim", claim).await;
            let complete = format!("/api/sessions/{}/complete", run.rsplit('/').next().unwrap());
            self.app.post(Who::Operator, &complete, json!({ "attempt": 1, "result": "x" })).await;
        }
        (run + path.strip_prefix("/tool-links/{id}/runs/{run}").unwrap(), Sent::Nothing, cookies)
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
            ("POST", "/api/tools/{slug}/links") => (self.linked_tool().await, json!({})),
            ("DELETE", "/api/tool-links/{id}") => (self.tool_link().await.1, Value::Null),
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
