//! `http_request`: makes a request to a host that the agent's settings allow, through `outbound` like every request to
//! an address that the operator did not choose.

use super::Answer;
use outbound::{Client, Hosts, Method, Request};
use serde_json::{Map, Value, json};

pub const DESCRIPTION: &str = "Makes one HTTP request to a host that is allowed and answers with status, headers and \
body. Redirects are not followed: their answer names the next address.";

/// Characters of a response body that the model receives.
const BODY_CHARS_MAX: usize = 50_000;

/// The HTTP client of an agent and its allowed hosts.
#[derive(Clone)]
pub struct Http {
    /// Client for outbound requests.
    pub client: Client,
    /// Hosts that the agent may call.
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

/// Whether a repeated request could have an effect twice.
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
