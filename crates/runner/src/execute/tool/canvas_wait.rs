//! `canvas_wait`: waits until somebody else changes a canvas.

use super::{
    super::{
        adapter::{Failure, JobContext},
        limit::CANVAS_LOOK_AGAIN,
    },
    Answer, canvas_changes, parse_id, refusal_answer,
};
use domain::limit::CANVAS_WAIT_SECONDS_MAX;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

pub const DESCRIPTION: &str = "Waits until someone else changes a canvas after the version `after`, up to `seconds`. \
The answer has the newest `version` and in `changes` what others changed; without `changes` no one did. `status` says \
whether the canvas has ended.";

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "canvasId": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The canvas's id" },
            "after": { "type": "integer", "minimum": 0, "description": "The newest version that you have seen" },
            "seconds": { "type": "integer", "minimum": 0, "maximum": CANVAS_WAIT_SECONDS_MAX, "description": "Default: 30" },
        },
        "required": ["canvasId", "after"],
        "additionalProperties": false,
    })
}

/// Longest wait when the call names none, seconds.
const SECONDS_DEFAULT: u64 = 30;

/// Waits. The lease is renewed meanwhile.
pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let id = match parse_id(input["canvasId"].as_str().unwrap_or_default()) {
        Ok(id) => id,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let after = input["after"].as_u64().unwrap_or_default();
    let seconds = input["seconds"].as_u64().unwrap_or(SECONDS_DEFAULT).min(CANVAS_WAIT_SECONDS_MAX);
    let until = Instant::now() + Duration::from_secs(seconds);
    let changes = loop {
        match canvas_changes::since(id, after, context).await {
            Ok(changes) if changes.block.is_some() || Instant::now() >= until => break changes,
            Ok(_) => sleep(CANVAS_LOOK_AGAIN).await,
            Err(error) => return refusal_answer(error).map(Err),
        }
    };
    let lease = &context.lease;
    let status = match lease.retry_while_held(lease.backoff(), |_| context.api.canvas(id)).await {
        Ok(canvas) => canvas.status,
        Err(error) => return refusal_answer(error).map(Err),
    };
    let mut answer = json!({ "version": changes.head, "status": status });
    changes.add_to(&mut answer);
    Ok(Ok(answer))
}
