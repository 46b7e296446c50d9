//! Checks the shape of a result, as far as this is possible without reading entities.

use super::Contract;
use crate::{
    action::OutputType,
    entity::{FIELD_TITLE, Values},
    id::EntityId,
    issue::Issue,
    limit::OUTPUT_ENTITIES_MAX,
};
use serde_json::{Map, Value};

/// First part of the path of every issue of a result.
const RESULT: &str = "result";
/// Key of the list in a result of type `entities`.
pub const FIELD_ENTITIES: &str = "entities";
/// Key, in an item of that list, of the id of the entity to change.
pub const FIELD_ID: &str = "id";

/// A result in the shape of its contract.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// A text or nothing. There is nothing to write back.
    Text,
    /// Values for the session's entity, if it has one.
    Fields(Values),
    /// Values for the session's entity, or for a new one.
    Entity(Values),
    /// Entities to create and to change.
    Entities(Vec<Item>),
    /// Values for a new entity that refers to the session's entity.
    RelationEntity(Values),
}

/// One entity of a result of type `entities`.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Id of the entity to change; `None` creates a new one.
    pub id: Option<EntityId>,
    /// Values by slug, and the title under `title` if the result has one.
    pub values: Values,
}

/// Reads a result in the shape of the contract's output type.
///
/// # Errors
/// One [`Issue`] for each part with another shape, with a path such as `result`, `result.stage` or
/// `result.entities[2].stage`.
pub fn shape(contract: &Contract, result: Option<&Value>) -> Result<Output, Vec<Issue>> {
    let mut issues = Vec::new();
    let result = result.unwrap_or(&Value::Null);
    let output = match contract.output_type {
        OutputType::Text => {
            check_text(result, &mut issues);
            Output::Text
        }
        OutputType::Entities => Output::Entities(items(result, &mut issues)),
        OutputType::Fields => Output::Fields(flat(RESULT, result, &mut issues)),
        OutputType::Entity => Output::Entity(flat(RESULT, result, &mut issues)),
        OutputType::RelationEntity => Output::RelationEntity(flat(RESULT, result, &mut issues)),
    };
    if issues.is_empty() { Ok(output) } else { Err(issues) }
}

fn refuse(issues: &mut Vec<Issue>, field: impl Into<String>, message: impl Into<String>) {
    issues.push(Issue { field: field.into(), message: message.into() });
}

/// Checks a result of type text: a string, an object with a string `text`, or nothing.
fn check_text(result: &Value, issues: &mut Vec<Issue>) {
    let fits = match result {
        Value::Null | Value::String(_) => true,
        Value::Object(object) => object.get("text").is_some_and(Value::is_string),
        _ => false,
    };
    if !fits {
        let wanted =
            "text: a string, or an object with a string `text`; the task's output type can be changed to fields";
        refuse(issues, RESULT, wanted);
    }
}

/// Reads an object whose values are plain: strings, numbers, booleans, null, or lists of these.
fn flat(path: &str, value: &Value, issues: &mut Vec<Issue>) -> Values {
    let Value::Object(object) = value else {
        refuse(issues, path, "an object of named values");
        return Map::new();
    };
    for (name, value) in object {
        let nested = match value {
            Value::Object(_) => true,
            Value::Array(list) => list.iter().any(|part| part.is_object() || part.is_array()),
            _ => false,
        };
        if nested {
            refuse(issues, format!("{path}.{name}"), "a plain value or a list of plain values, nothing nested");
        } else if name == FIELD_TITLE && !value.is_string() {
            refuse(issues, format!("{path}.{name}"), "a string");
        }
    }
    object.clone()
}

fn items(result: &Value, issues: &mut Vec<Issue>) -> Vec<Item> {
    let list = result.get(FIELD_ENTITIES).and_then(Value::as_array);
    let Some(list) = list else {
        refuse(issues, RESULT, "an object with a list `entities`");
        return Vec::new();
    };
    if let Some(other) = result.as_object().and_then(|object| object.keys().find(|key| *key != FIELD_ENTITIES)) {
        refuse(issues, format!("{RESULT}.{other}"), "`entities` is the only key of this result");
    }
    if list.len() > OUTPUT_ENTITIES_MAX {
        refuse(issues, format!("{RESULT}.{FIELD_ENTITIES}"), format!("at most {OUTPUT_ENTITIES_MAX} entities"));
        return Vec::new();
    }
    list.iter().enumerate().map(|(index, value)| item(index, value, issues)).collect()
}

fn item(index: usize, value: &Value, issues: &mut Vec<Issue>) -> Item {
    let path = format!("{RESULT}.{FIELD_ENTITIES}[{index}]");
    let mut values = flat(&path, value, issues);
    let id = match values.remove(FIELD_ID) {
        None | Some(Value::Null) => None,
        Some(id) => {
            let known = id.as_str().and_then(|id| id.parse().ok());
            if known.is_none() {
                refuse(issues, format!("{path}.{FIELD_ID}"), "the id of an entity; leave it out to make a new one");
            }
            known
        }
    };
    Item { id, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::read;
    use serde_json::json;

    fn shaped(output_type: OutputType, result: Value) -> Result<Output, Vec<String>> {
        let config = r#"{"entityType":"note","relationField":"company"}"#;
        let config = match output_type {
            OutputType::RelationEntity => config,
            OutputType::Entities => r#"{"entityType":"note"}"#,
            _ => "{}",
        };
        let contract = read(output_type, config).unwrap();
        let fields = |issues: Vec<Issue>| issues.into_iter().map(|issue| issue.field).collect();
        shape(&contract, Some(&result)).map_err(fields)
    }

    #[test]
    fn text_is_a_string_an_object_with_text_or_nothing() {
        for good in [json!("done"), json!({ "text": "done", "more": [1] }), json!(null)] {
            assert_eq!(shaped(OutputType::Text, good), Ok(Output::Text));
        }
        for bad in [json!(1), json!({ "notes": 12 }), json!({ "text": 1 }), json!(["a"])] {
            assert_eq!(shaped(OutputType::Text, bad.clone()), Err(vec!["result".into()]), "{bad}");
        }
    }

    #[test]
    fn named_values_are_flat() {
        let good = json!({ "stage": "Won", "size": 3, "ok": true, "tags": ["a", 1], "none": null });
        let values = good.as_object().unwrap().clone();
        assert_eq!(shaped(OutputType::Fields, good.clone()), Ok(Output::Fields(values.clone())));
        assert_eq!(shaped(OutputType::Entity, good.clone()), Ok(Output::Entity(values.clone())));
        assert_eq!(shaped(OutputType::RelationEntity, good), Ok(Output::RelationEntity(values)));
        for output_type in [OutputType::Fields, OutputType::Entity, OutputType::RelationEntity] {
            let nested = json!({ "a": { "b": 1 }, "c": [[1]], "d": [{}], "title": 7 });
            let named = ["result.a", "result.c", "result.d", "result.title"].map(str::to_owned);
            assert_eq!(shaped(output_type, nested), Err(named.to_vec()));
            for other in [json!("text"), json!([{}]), json!(null)] {
                assert_eq!(shaped(output_type, other), Err(vec!["result".into()]));
            }
        }
    }

    #[test]
    fn entities_are_a_bounded_list_of_flat_objects_with_or_without_an_id() {
        let id = "018f0000-0000-7000-8000-000000000000";
        let good = json!({ "entities": [{ "id": id, "stage": "Won" }, { "title": "New" }, { "id": null }] });
        let Ok(Output::Entities(items)) = shaped(OutputType::Entities, good) else { panic!("refused") };
        assert_eq!(items.iter().map(|item| item.id).collect::<Vec<_>>(), [id.parse().ok(), None, None]);
        assert_eq!(json!(items[0].values), json!({ "stage": "Won" }));
        for (bad, named) in [
            (json!([]), "result"),
            (json!({ "entities": {} }), "result"),
            (json!({ "entities": [], "note": "x" }), "result.note"),
            (json!({ "entities": ["x"] }), "result.entities[0]"),
            (json!({ "entities": [{}, { "id": "x" }] }), "result.entities[1].id"),
            (json!({ "entities": [{ "a": {} }] }), "result.entities[0].a"),
            (json!({ "entities": vec![json!({}); OUTPUT_ENTITIES_MAX + 1] }), "result.entities"),
        ] {
            assert_eq!(shaped(OutputType::Entities, bad.clone()), Err(vec![named.into()]), "{bad}");
        }
    }
}
