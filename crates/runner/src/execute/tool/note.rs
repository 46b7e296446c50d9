//! `note`: records a note for the people who read the log.

use super::{
    super::{
        adapter::{Failure, JobContext},
        event::texts,
        notes::Notes,
    },
    Answer,
};
use domain::event::Known;
use serde_json::{Value, json};

pub const DESCRIPTION: &str =
    "Leaves a remark in the session's log, for the people who read it. It changes nothing else.";

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "text": { "type": "string", "minLength": 1, "maxLength": 10_000 } },
        "required": ["text"],
        "additionalProperties": false,
    })
}

pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let text = input["text"].as_str().unwrap_or_default();
    // A closed queue means that the lease is lost, which the worker sees by itself.
    let _ = context.record(texts(Known::ExternalEvent.as_str(), text, &Notes { note: true, ..Notes::default() })).await;
    Ok(Ok(json!("noted")))
}
