//! `canvas_patch`: changes a canvas.

use super::{
    super::adapter::{Failure, JobContext},
    Answer, canvas_changes, parse_id, refusal_answer,
};
use domain::limit::CANVAS_OPS_MAX;
use serde_json::{Value, json};
use wire::canvas::{PatchAnswer, SendPatch};

pub const DESCRIPTION: &str = "Changes a canvas by operations of JSON Patch: `add` a new member, `replace`, `remove`, \
`test`. `base` is the version that you read. Lists are maps from ids to items with an `order`. The answer has the new \
`version`, or why the change was `rejected`, and in `changes` what others changed since `base`.";

pub fn schema() -> Value {
    let operation = json!({
        "type": "object",
        "properties": {
            "op": { "enum": ["add", "replace", "remove", "test"] },
            "path": { "type": "string", "description": "A JSON Pointer" },
            "value": {},
        },
        "required": ["op", "path"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "canvasId": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The canvas's id" },
            "base": { "type": "integer", "minimum": 0, "description": "The version that you read" },
            "ops": { "type": "array", "items": operation, "minItems": 1, "maxItems": 2 * CANVAS_OPS_MAX },
            "strict": { "type": "boolean", "description": "Reject the change unless `base` is the newest version" },
        },
        "required": ["canvasId", "base", "ops"],
        "additionalProperties": false,
    })
}

/// Sends the patch until it is answered: under its id it is applied once.
pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let id = match parse_id(input["canvasId"].as_str().unwrap_or_default()) {
        Ok(id) => id,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let patch = SendPatch {
        op_id: canvas_changes::own_id(context),
        base: input["base"].as_u64().unwrap_or_default(),
        ops: input["ops"].as_array().cloned().unwrap_or_default(),
        strict: input["strict"] == true,
    };
    let lease = &context.lease;
    let answer = match lease.retry_while_held(lease.backoff(), |_| context.api.patch_canvas(id, &patch)).await {
        Ok(answer) => answer,
        Err(error) => return refusal_answer(error).map(Err),
    };
    let before = answer.committed.as_ref().map(|committed| committed.previous).or(answer.head);
    let is_behind = before.is_some_and(|before| before > patch.base);
    let mut output = output_of(&answer, &patch);
    if is_behind {
        match canvas_changes::since(id, patch.base, context).await {
            Ok(changes) => changes.add_to(&mut output),
            Err(error) => return refusal_answer(error).map(Err),
        }
    }
    Ok(if answer.rejected.is_some() { Err(output) } else { Ok(output) })
}

/// The answer for the model: without what it has sent itself.
fn output_of(answer: &PatchAnswer, sent: &SendPatch) -> Value {
    if let Some(rejected) = &answer.rejected {
        return json!({ "rejected": rejected, "version": answer.head });
    }
    let Some(committed) = &answer.committed else {
        return json!({ "suggested": answer.suggested });
    };
    let mut output = json!({ "version": committed.sequence });
    if !committed.overwrote.is_empty() {
        output["overwrote"] = json!(committed.overwrote);
    }
    let applied = json!(committed.ops);
    if applied != json!(sent.ops) {
        output["applied"] = applied;
    }
    output
}
