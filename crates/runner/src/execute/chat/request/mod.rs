//! Writes the request for one reply of a model in the format of its service.
//!
//! Both formats are written here and not by a library, because the answer has to be bounded where its bytes arrive
//! ([`frame`](super::frame)): the crates that write these requests also send them, and join the lines of the answer
//! without a bound.

mod anthropic;
mod openai;

use super::{message::ModelRequest, protocol::Wire};
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// The body of a request to the model `name` for a reply of at most `tokens_max` tokens.
pub(super) fn body(wire: Wire, name: &str, question: &ModelRequest, tokens_max: Option<u32>) -> Value {
    match wire {
        Wire::OpenAi => openai::body(name, question, tokens_max),
        Wire::Anthropic => anthropic::body(name, question, tokens_max),
    }
}

/// The headers of every request: the API key, if there is one, and the version of the format.
///
/// # Errors
/// If the key has characters that a header cannot have.
pub(super) fn headers(wire: Wire, key: &str) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if wire == Wire::Anthropic {
        let version = HeaderName::from_static("anthropic-version");
        headers.insert(version, HeaderValue::from_static(anthropic::VERSION));
    }
    if !key.is_empty() {
        let (name, value) = match wire {
            Wire::OpenAi => ("authorization", format!("Bearer {key}")),
            Wire::Anthropic => ("x-api-key", key.to_owned()),
        };
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| "the API key has characters that a header cannot have".to_owned())?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
