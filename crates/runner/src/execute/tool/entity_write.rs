//! `entity_write`: creates an entity or writes the next version of one.

use super::{
    super::{
        adapter::{Failure, JobContext},
        lease::is_transient,
    },
    Answer, parse_id, tool_answer,
};
use serde_json::{Map, Value, json};
use wire::entity::{CreateEntity, Entity, UpdateEntity};

pub const DESCRIPTION: &str = "Changes an entity: give its `id`, the `version` that you read, and what changes in \
`title` and `fields`; null clears a field. Or makes one: give `type`, the slug of its entity type, `title` and `fields`.";

pub fn schema() -> Value {
    let version = json!({ "type": "integer", "minimum": 1 });
    let text = json!({ "type": "string", "minLength": 1, "maxLength": 300 });
    json!({
        "type": "object",
        "properties": { "id": text, "version": version, "type": text, "title": text, "fields": { "type": "object" } },
        "additionalProperties": false,
        "oneOf": [
            { "required": ["id", "version"], "not": { "required": ["type"] } },
            { "required": ["type", "title"], "not": { "anyOf": [{ "required": ["id"] }, { "required": ["version"] }] } },
        ],
    })
}

/// Makes the request once: after a lost answer it is unknown whether the write happened.
pub async fn run(input: &Value, context: &JobContext) -> Result<Answer, Failure> {
    let title = input["title"].as_str().map(str::to_owned);
    let fields: Map<String, Value> = input["fields"].as_object().cloned().unwrap_or_default();
    if let Some(text) = input["id"].as_str() {
        let id = match parse_id(text) {
            Ok(id) => id,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let version = input["version"].as_u64().unwrap_or_default();
        let change = UpdateEntity { version, title, fields };
        return written(context.api.update_entity(context.lease.session_id, id, &change).await);
    }
    let slug = input["type"].as_str().unwrap_or_default();
    let lease = &context.lease;
    let type_id = match lease.retry_while_held(lease.backoff(), |_| context.api.entity_type(slug)).await {
        Ok(Some(kind)) => kind.id,
        Ok(None) => return Ok(Err(json!(format!("there is no entity type {slug:?}")))),
        Err(error) => return tool_answer(Err(error), |(): ()| Value::Null),
    };
    let entity = CreateEntity { type_id, title: title.unwrap_or_default(), fields };
    written(context.api.create_entity(context.lease.session_id, &entity).await)
}

fn written(answer: client::Result<Entity>) -> Result<Answer, Failure> {
    match answer {
        Err(error) if is_transient(&error) => {
            Ok(Err(json!(format!("it is not known whether this was written; read the entity to find out: {error}"))))
        }
        answer => tool_answer(answer, |entity| json!(entity)),
    }
}
