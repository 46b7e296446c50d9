//! A new entity, or the next version of one.

use super::{
    super::{
        adapter::{Failure, Hand},
        lease::may_pass,
    },
    Answer, settled,
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

/// Tried once: after an answer that got lost, nobody knows whether it happened.
pub async fn run(input: &Value, hand: &Hand) -> Result<Answer, Failure> {
    let title = input["title"].as_str().map(str::to_owned);
    let fields: Map<String, Value> = input["fields"].as_object().cloned().unwrap_or_default();
    if let Some(id) = input["id"].as_str() {
        let version = input["version"].as_u64().unwrap_or_default();
        let change = UpdateEntity { version, title, fields };
        return written(hand.desk.update_entity(&hand.lease.session_id, id, &change).await);
    }
    let slug = input["type"].as_str().unwrap_or_default();
    let lease = &hand.lease;
    let type_id = match lease.insist(lease.backoff(), |_| hand.desk.entity_type(slug)).await {
        Ok(Some(kind)) => kind.id,
        Ok(None) => return Ok(Err(json!(format!("there is no entity type {slug:?}")))),
        Err(error) => return settled(Err(error), |(): ()| Value::Null),
    };
    let entity = CreateEntity { type_id, title: title.unwrap_or_default(), fields };
    written(hand.desk.create_entity(&hand.lease.session_id, &entity).await)
}

fn written(answer: client::Result<Entity>) -> Result<Answer, Failure> {
    match answer {
        Err(error) if may_pass(&error) => {
            Ok(Err(json!(format!("it is not known whether this was written; read the entity to find out: {error}"))))
        }
        answer => settled(answer, |entity| json!(entity)),
    }
}
