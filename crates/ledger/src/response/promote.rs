//! Making an entity from a response.

use super::promotion::{self, Ids};
use crate::{
    Error, Ledger, ResponseRecord, Result,
    entity::{self, NewEntity},
    guard::require,
    visibility::require_visible,
};
use domain::{
    Scope,
    criteria_set::evaluate_safety_gate,
    entity::{FieldDef, FieldType, Values},
    id::{ActionId, EntityTypeId, SessionId},
    issue::Issue,
    role::Permission,
    view::{Answers, Field, Kind, shown},
};
use serde_json::Value;
use std::collections::BTreeMap;
use store::{EntityTypeRecord, Promotion, ResponseState, WriteTx};

/// Keys of answers that can be the title of an entity, if the caller gives none.
const TITLE_KEYS: [&str; 2] = ["title", "name"];

/// What makes the entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromoteTo {
    /// A new entity of this type, at once.
    Type(EntityTypeId),
    /// The output contract of this task. Its safety rules judge the answers, and it waits for approval where the
    /// task requires one.
    Action(ActionId),
}

/// How an entity is made from a response.
#[derive(Debug, Clone)]
pub struct Promote {
    /// What makes the entity.
    pub to: PromoteTo,
    /// Title of the entity. By default the answer with the key `title` or `name`.
    pub title: Option<String>,
    /// Key of the answer for each field of the type, by the field's slug. Fields that are not named take the answer
    /// with the same key, hyphens written as underscores.
    pub fields: BTreeMap<String, String>,
}

/// Makes an entity from a submitted response, in one transaction. The response names the entity, and a version of the
/// entity names the response's session, or the session of the task, which the response's session started. A repeat
/// returns what is recorded, also while the task waits for approval. A denied response can be promoted again.
///
/// # Errors
/// [`Error::NotFound`] if there is no such response, if the caller cannot see its session, or for an unknown type or
/// task; [`Error::HardBlock`] if a rating in the answers fails a safety dimension, or the task's safety rules block the
/// answers; [`Error::Invalid`] for a response that was not submitted, for a task that is archived or makes no single
/// entity, and for answers that the type or the task refuses.
pub async fn promote(ledger: &Ledger, scope: &Scope, id: SessionId, to: Promote) -> Result<ResponseRecord> {
    require(scope, Permission::WriteEntities)?;
    if matches!(to.to, PromoteTo::Action(_)) {
        require(scope, Permission::StartSession)?;
    }
    let (scope, ids) = (*scope, Ids::new(ledger));
    ledger
        .write((&scope).into(), move |tx| {
            Box::pin(async move {
                let tenant_id = scope.tenant_id;
                let found = store::response::find_locked(tx, tenant_id, id).await?;
                let response = found.ok_or(Error::NotFound("response"))?;
                let session = store::session::find(tx.conn(), tenant_id, id).await?;
                let session = require_visible(tx.conn(), &scope, session).await;
                let private_to = session.map_err(|_| Error::NotFound("response"))?.private_to;
                if response.promotion.is_some() || promotion::waits(tx.conn(), tenant_id, &response).await? {
                    return Ok(response);
                }
                if response.state != ResponseState::Submitted {
                    return Err(Error::invalid("id", "only a submitted response can become an entity"));
                }
                let version = store::view::version_of(tx.conn(), tenant_id, response.view_id, response.version).await?;
                let fields = version.map(|version| version.fields).unwrap_or_default();
                refuse_unsafe(&fields, &response.answers)?;
                match to.to {
                    PromoteTo::Type(type_id) => make(tx, &scope, response, (type_id, to, &fields), ids).await,
                    PromoteTo::Action(action_id) => {
                        promotion::begin(tx, &scope, (response, private_to), (action_id, to, &fields), ids).await
                    }
                }
            })
        })
        .await
}

/// Makes an entity of a type at once.
async fn make(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    response: ResponseRecord,
    (type_id, to, fields): (EntityTypeId, Promote, &[Field]),
    ids: Ids,
) -> Result<ResponseRecord> {
    let (tenant_id, id, now) = (scope.tenant_id, response.session_id, ids.factory.at());
    let of_type = store::entity_type::find(tx.conn(), tenant_id, type_id).await?;
    let of_type = of_type.ok_or(Error::NotFound("entity type"))?;
    let (title, values) = values_of(&of_type, fields, &response.answers, to)?;
    let title =
        title.ok_or_else(|| Error::invalid("title", "no answer has the key `title` or `name`; give a title"))?;
    let new = NewEntity { type_id, title, fields: values };
    let entity = entity::create_on(tx, scope, (ids.entity_id, now), new, Some(id)).await?;
    let promotion = Promotion { entity_id: entity.id, by: scope.caller.to_string(), at: now };
    store::response::promote(tx, tenant_id, id, &promotion).await?;
    Ok(ResponseRecord { promotion: Some(promotion), ..response })
}

/// Refuses answers with a rating that fails a safety dimension.
fn refuse_unsafe(fields: &[Field], answers: &Answers) -> Result<()> {
    for field in fields {
        let Kind::Rating { dimensions, .. } = &field.kind else { continue };
        let Some(rating) = answers.get(&field.key).and_then(Value::as_object) else { continue };
        if let Some(message) = evaluate_safety_gate(rating, dimensions).refusal() {
            return Err(Error::HardBlock(Issue::new(field.key.as_str(), message)));
        }
    }
    Ok(())
}

/// Returns the title, if there is one, and the values of an entity. The type's own check comes later.
pub(super) fn values_of(
    of_type: &EntityTypeRecord,
    fields: &[Field],
    answers: &Answers,
    to: Promote,
) -> Result<(Option<String>, Values)> {
    if let Some(unknown) = to.fields.keys().find(|slug| !of_type.fields.iter().any(|field| field.slug == **slug)) {
        return Err(Error::invalid(format!("fields.{unknown}"), "the entity type has no such field"));
    }
    let by_key = |key: &str| fields.iter().find(|field| field.key == key);
    let title = to.title.or_else(|| {
        let key = TITLE_KEYS.into_iter().find(|key| answers.contains_key(*key))?;
        Some(shown(by_key(key)?, answers.get(key)?))
    });
    let mut values = Values::new();
    for def in &of_type.fields {
        let key = to.fields.get(&def.slug).cloned().unwrap_or_else(|| def.slug.replace('-', "_"));
        if let (Some(field), Some(answer)) = (by_key(&key), answers.get(&key)) {
            values.insert(def.slug.clone(), value_of(def, field, answer));
        }
    }
    Ok((title, values))
}

/// Converts an answer to a value of an entity's field. A text takes any answer, as people read it.
fn value_of(def: &FieldDef, field: &Field, answer: &Value) -> Value {
    match (def.kind, answer) {
        (FieldType::Text, Value::String(_)) | (FieldType::Number, Value::Number(_)) => answer.clone(),
        (FieldType::Text | FieldType::Number, _) => Value::from(shown(field, answer)),
        (FieldType::Select | FieldType::Date | FieldType::Relation, _) => answer.clone(),
    }
}
