//! A side model that answers at once: OpenAI's protocol, one operation about the first turn of the prompt.

use anyhow::Result;
use axum::{Router, http::header, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
};
use tokio::net::TcpListener;

/// Numbers the topics, so that each answer makes one.
static TOPIC: AtomicU64 = AtomicU64::new(0);

/// Starts the model and returns its address. It ends with the process.
pub async fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

async fn answer(body: String) -> impl IntoResponse {
    let (session, sequence) = first_turn(&body).unwrap_or(("s1".to_owned(), 1));
    let number = TOPIC.fetch_add(1, Ordering::Relaxed);
    let evidence = json!([{ "session": session, "sequence": sequence }]);
    let said = json!({
        "schema": 1, "nothing": false,
        "summary": { "title": "Offers", "body": "They compared offers.", "evidence": evidence },
        "ops": [{
            "op": "create", "path": format!("topics/offers-{number}.md"), "heading": [], "base_sha256": null,
            "body": format!("# Offers {number}\n\n- Number {number} delivers within four days\n"),
            "evidence": evidence, "reason": "Said.",
        }],
    });
    let chunk = |delta: Value, reason: Value| {
        let choice = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
        let chunk =
            json!({ "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choice });
        format!("data: {chunk}\n\n")
    };
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 });
    let last = json!({
        "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage,
    });
    let parts = [
        chunk(json!({ "role": "assistant", "content": said.to_string() }), Value::Null),
        chunk(json!({}), "stop".into()),
        format!("data: {last}\n\ndata: [DONE]\n\n"),
    ];
    ([(header::CONTENT_TYPE, "text/event-stream")], parts.concat())
}

/// Session and sequence of the first turn, which the prompt begins with `[s1:4] `.
fn first_turn(body: &str) -> Option<(String, u64)> {
    let (_, rest) = body.split_once("\\n[s")?;
    let (named, _) = rest.split_once(']')?;
    let (session, sequence) = named.split_once(':')?;
    Some((format!("s{session}"), sequence.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_turn_of_a_prompt_is_found() {
        let body =
            json!({ "content": "<transcript-ab>\n[s3:12] 2026-11-25 08:00 UTC, the agent\n| hello\n" }).to_string();
        assert_eq!(first_turn(&body), Some(("s3".to_owned(), 12)));
        assert_eq!(first_turn("{}"), None);
    }
}
