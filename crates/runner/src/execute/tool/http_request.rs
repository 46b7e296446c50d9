//! A call to a host that the agent's configuration names. It goes the one way out, like every call whose address somebody
//! else chose.

use super::Answer;
use outbound::{Client, Hosts, Method, Request};
use serde_json::{Map, Value, json};

pub const DESCRIPTION: &str = "Makes one HTTP request to a host that is allowed and answers with status, headers and \
body. Redirects are not followed: their answer names the next address.";

/// Most characters of an answer's body that a model is given.
const BODY_CHARS_MAX: usize = 50_000;

/// Where an agent may call.
#[derive(Clone)]
pub struct Http {
    /// The way out.
    pub client: Client,
    /// The hosts it may reach.
    pub hosts: Hosts,
}

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "method": { "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
            "url": { "type": "string", "minLength": 1, "maxLength": 4_000 },
            "headers": { "type": "object", "maxProperties": 30, "additionalProperties": { "type": "string" } },
            "body": { "description": "Text as it is, or any JSON" },
        },
        "required": ["url"],
        "additionalProperties": false,
    })
}

/// Whether a repeat could do something twice.
pub fn has_effects(input: &Value) -> bool {
    !matches!(input["method"].as_str(), None | Some("GET" | "HEAD"))
}

pub async fn run(input: &Value, http: &Http) -> Answer {
    let method =
        input["method"].as_str().unwrap_or("GET").parse::<Method>().map_err(|error| json!(error.to_string()))?;
    let headers = input["headers"].as_object().into_iter().flatten();
    let mut headers: Vec<_> =
        headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    let body = match input.get("body") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(document) => {
            if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                headers.push(("content-type".into(), "application/json".into()));
            }
            document.to_string()
        }
    };
    let url = input["url"].as_str().unwrap_or_default().to_owned();
    let request = Request { method, url, headers, body: body.into(), hosts: http.hosts.clone() };
    let response = http.client.fetch(request).await.map_err(|error| json!(error.to_string()))?;
    let text = String::from_utf8_lossy(&response.body);
    let shown: String = text.chars().take(BODY_CHARS_MAX).collect();
    let missing = text.len() - shown.len();
    let headers: Map<String, Value> = response.headers.into_iter().map(|(name, value)| (name, value.into())).collect();
    let mut answer = json!({ "status": response.status, "headers": headers, "body": shown });
    if missing > 0 {
        answer["cutBytes"] = missing.into();
    }
    Ok(answer)
}
