//! `canvas_read`: reads the newest document of a canvas, and what others changed since a version.

use super::{
    super::adapter::{Failure, JobContext},
    Answer, canvas_changes, parse_id, refusal_answer,
};
use serde_json::{Value, json};

pub const DESCRIPTION: &str = "Reads a canvas, a JSON document that people and agents edit together: title, status, \
`version`, `document`, and your `role` in it. With `since`, a version that you have seen, `changes` has what others \
changed after it.";

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "canvasId": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The canvas's id" },
            "since": { "type": "integer", "minimum": 0, "description": "A version that you have seen" },
        },
        "required": ["canvasId"],
        "additionalProperties": false,
    })
}

pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let id = match parse_id(input["canvasId"].as_str().unwrap_or_default()) {
        Ok(id) => id,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let lease = &context.lease;
    let canvas = match lease.retry_while_held(lease.backoff(), |_| context.api.canvas(id)).await {
        Ok(canvas) => canvas,
        Err(error) => return refusal_answer(error).map(Err),
    };
    let mut answer = json!(canvas);
    if let Some(since) = input["since"].as_u64().filter(|since| *since < canvas.version) {
        match canvas_changes::since(id, since, context).await {
            Ok(changes) => changes.add_to(&mut answer),
            Err(error) => return refusal_answer(error).map(Err),
        }
    }
    Ok(Ok(answer))
}
