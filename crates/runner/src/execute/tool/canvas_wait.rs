//! `canvas_wait`: waits until somebody else changes a canvas.

use super::{
    super::{
        adapter::{Failure, JobContext},
        limit::CANVAS_LOOK_AGAIN,
    },
    Answer,
    canvas_changes::{self, Changes},
    parse_id, refusal_answer,
};
use domain::{id::SessionId, limit::CANVAS_WAIT_SECONDS_MAX, session::Status};
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
    let most = u64::from(CANVAS_WAIT_SECONDS_MAX);
    let seconds = input["seconds"].as_u64().unwrap_or(SECONDS_DEFAULT).min(most);
    let until = Instant::now() + Duration::from_secs(seconds);
    match wait(id, after, until, context).await {
        Ok((changes, status)) => {
            let mut answer = json!({ "version": changes.head, "status": status });
            changes.add_to(&mut answer);
            Ok(Ok(answer))
        }
        Err(error) => refusal_answer(error).map(Err),
    }
}

/// Waits for a change of others, the end of the canvas or the time. Each request waits at the server for a patch, which
/// may be one of the session itself, as long as the lease allows.
async fn wait(id: SessionId, after: u64, until: Instant, context: &JobContext) -> client::Result<(Changes, Status)> {
    let (lease, mut seen) = (&context.lease, after);
    loop {
        let begun = Instant::now();
        let left = until.saturating_duration_since(begun).min(lease.wait_max()).as_secs();
        let seconds = u32::try_from(left).unwrap_or(CANVAS_WAIT_SECONDS_MAX);
        let changes = canvas_changes::wait_since(id, seen, seconds.min(CANVAS_WAIT_SECONDS_MAX), context).await?;
        let status = lease.retry_while_held(lease.backoff(), |_| context.api.canvas(id)).await?.status;
        if changes.block.is_some() || status.is_final() || Instant::now() >= until {
            return Ok((changes, status));
        }
        seen = changes.last.max(seen);
        if begun.elapsed() < CANVAS_LOOK_AGAIN {
            sleep(CANVAS_LOOK_AGAIN).await;
        }
    }
}
