//! Rules for the matrix. Only an admin who is signed in makes them.

use crate::{
    app::{App, Who},
    prepare::{Maker, Sent, form, in_an_hour, unique_text},
};
use reqwest::Method;
use serde_json::{Value, json};

/// A rule about approvals of an agent of its own, because the number of rules about the same ones is limited.
pub fn new_rule() -> Value {
    json!({
        "subject": { "agent": unique_text(), "kind": "tool", "tool": "refund", "fields": ["amount"] },
        "conditions": [{ "field": "amount", "atMost": 50 }],
        "limits": { "perDay": 3, "expiresAt": in_an_hour()["until"], "canaryPercent": 10 },
    })
}

/// Makes a rule. Returns its id.
pub async fn made_rule(app: &App) -> String {
    make_rule(app, &new_rule()).await
}

/// Makes this rule. Returns its id.
pub async fn make_rule(app: &App, rule: &Value) -> String {
    let request = app.http.post(format!("{}/api/rules", app.url)).header("cookie", app.cookie().await);
    let response = request.header("sec-fetch-site", "same-origin").json(rule).send().await.unwrap();
    let made: Value = response.json().await.unwrap();
    made["id"].as_str().unwrap().to_owned()
}

impl Maker<'_> {
    /// The object and the body of a request about rules.
    pub async fn rule_request(&self, method: &str, path: &str) -> (String, Sent) {
        let sent = match (method, path) {
            ("POST", "/api/rules" | "/api/rules/back-test") => return (String::new(), Sent::Json(new_rule())),
            ("PATCH", _) => Sent::Json(json!({ "version": 1, "conditions": [] })),
            _ => Sent::Nothing,
        };
        (made_rule(self.app).await, sent)
    }
}

/// The form of a rule about the agent `matrix`.
fn typed() -> Vec<(&'static str, &'static str)> {
    vec![
        ("subject", r#"{"agent":"matrix","kind":"tool","tool":"refund","fields":["amount"]}"#),
        ("condition.0.test", "range"),
        ("condition.0.most", "50"),
        ("per_day", "3"),
        ("canary_percent", "10"),
        ("do", "test"),
    ]
}

impl Maker<'_> {
    /// The object and the form of a request to the pages of rules.
    pub async fn rule_page(&self, method: &str, path: &str) -> (String, Sent) {
        let until = in_an_hour()["until"].as_str().unwrap().chars().take("2026-11-30".len()).collect::<String>();
        let mut fields = typed();
        fields.push(("until", &until));
        fields.push(("version", "1"));
        match (method, path) {
            ("GET", "/rules") => (String::new(), Sent::Nothing),
            ("GET", "/rules/new") => (format!("?from={}", self.paused().await), Sent::Nothing),
            ("POST", "/rules") => (String::new(), form(&fields)),
            ("GET", _) => (made_rule(self.app).await, Sent::Nothing),
            (_, path) if path.ends_with("/edit") => (made_rule(self.app).await, form(&fields)),
            _ => (made_rule(self.app).await, form(&[("do", "suspend")])),
        }
    }

    /// The id of an approval of a tool call.
    async fn paused(&self) -> String {
        let session = self.running().await;
        let call = json!({ "toolCallId": "c", "toolName": "refund", "toolInput": { "amount": 5 } });
        let pause = json!({ "attempt": 1, "status": "awaiting_tool", "pausedToolCall": call });
        self.app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), pause).await;
        let path = "/api/approvals?limit=1000";
        let page = self.app.request(Who::Admin, Method::GET, path).send().await.unwrap().json::<Value>().await.unwrap();
        let found = page["items"].as_array().unwrap().iter().find(|item| item["sessionId"] == json!(session));
        found.unwrap()["id"].as_str().unwrap().to_owned()
    }
}
