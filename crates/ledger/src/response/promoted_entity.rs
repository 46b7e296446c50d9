//! The entity that a response becomes: what makes it, and its values.

use crate::{Error, Result};
use domain::{
    entity::{FieldDef, FieldType, Values},
    id::{ActionId, EntityTypeId},
    view::{Answers, Field, display_text},
};
use serde_json::Value;
use std::collections::BTreeMap;
use store::EntityTypeRecord;

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

/// How the answers of a response become an entity, and the questions that they answer.
pub(super) struct Mapping<'a> {
    pub(super) to: Promote,
    pub(super) questions: &'a [Field],
}

/// Returns the title, if there is one, and the values of an entity. The type's own check comes later.
pub(super) fn values_of(
    of_type: &EntityTypeRecord,
    answers: &Answers,
    mapping: Mapping<'_>,
) -> Result<(Option<String>, Values)> {
    let Mapping { to, questions } = mapping;
    if let Some(unknown) = to.fields.keys().find(|slug| !of_type.fields.iter().any(|field| field.slug == **slug)) {
        return Err(Error::invalid(format!("fields.{unknown}"), "the entity type has no such field"));
    }
    let by_key = |key: &str| questions.iter().find(|field| field.key == key);
    let title = to.title.or_else(|| {
        let key = TITLE_KEYS.into_iter().find(|key| answers.contains_key(*key))?;
        Some(display_text(by_key(key)?, answers.get(key)?))
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
        (FieldType::Text | FieldType::Number, _) => Value::from(display_text(field, answer)),
        (FieldType::Select | FieldType::Date | FieldType::Relation, _) => answer.clone(),
    }
}
