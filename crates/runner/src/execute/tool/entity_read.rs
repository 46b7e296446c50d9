//! `entity_read`: reads an entity with its values, or an entity type with its fields.

use super::{
    super::adapter::{Failure, JobContext},
    Answer, parse_id, tool_answer,
};
use serde_json::{Value, json};

pub const DESCRIPTION: &str = "Reads an entity by its id: title, values of its fields, version. Or, with `type`, the \
entity type of that slug: which fields it has and what fits into them.";

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The entity's id" },
            "type": { "type": "string", "minLength": 1, "maxLength": 100, "description": "An entity type's slug" },
        },
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
    })
}

pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let lease = &context.lease;
    if let Some(slug) = input["type"].as_str() {
        let read = lease.retry_while_held(lease.backoff(), |_| context.api.entity_type(slug)).await;
        return Ok(match tool_answer(read, |found| json!(found))? {
            Ok(Value::Null) => Err(json!(format!("there is no entity type {slug:?}"))),
            answer => answer,
        });
    }
    let id = match parse_id(input["id"].as_str().unwrap_or_default()) {
        Ok(id) => id,
        Err(refusal) => return Ok(Err(refusal)),
    };
    tool_answer(lease.retry_while_held(lease.backoff(), |_| context.api.entity(id)).await, |entity| json!(entity))
}
