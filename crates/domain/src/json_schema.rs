//! The JSON Schema of one value as a form needs it: without the indirections that libraries of models write, such as
//! `$ref` to a definition, `allOf` of one schema and `anyOf` with `null`.

use serde_json::{Map, Value};

/// Most steps from a reference to the schema that it names. A circle of references ends there.
const STEPS_MAX: usize = 16;

/// A schema without indirections.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordinary {
    /// Members of the schema. Those beside a reference take precedence over those of its target. `true` has none.
    pub members: Map<String, Value>,
    /// Whether `null` is valid. The members describe the other values.
    pub is_nullable: bool,
}

/// Resolves a schema within `root`, the document that its references are in. What cannot be resolved stays as it is.
pub fn ordinary(root: &Value, schema: &Value) -> Ordinary {
    let mut found = Ordinary { members: schema.as_object().cloned().unwrap_or_default(), is_nullable: false };
    for _ in 0..STEPS_MAX {
        let is_changed = follow_reference(root, &mut found.members)
            || open_all_of(&mut found.members)
            || drop_null(&mut found, "anyOf")
            || drop_null(&mut found, "oneOf")
            || drop_null_type(&mut found)
            || drop_null_option(&mut found);
        if !is_changed {
            break;
        }
    }
    found
}

/// Adds the members of `inner` that are not there yet.
fn add(members: &mut Map<String, Value>, inner: &Map<String, Value>) {
    for (name, value) in inner {
        members.entry(name).or_insert_with(|| value.clone());
    }
}

fn follow_reference(root: &Value, members: &mut Map<String, Value>) -> bool {
    let Some(path) = members.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#')) else {
        return false;
    };
    let Some(target) = root.pointer(path).and_then(Value::as_object).cloned() else { return false };
    members.remove("$ref");
    add(members, &target);
    true
}

fn open_all_of(members: &mut Map<String, Value>) -> bool {
    let Some([Value::Object(inner)]) = members.get("allOf").and_then(Value::as_array).map(Vec::as_slice) else {
        return false;
    };
    let inner = inner.clone();
    members.remove("allOf");
    add(members, &inner);
    true
}

/// Removes the alternative `null`. A single other alternative takes the place of the list, unless it is a constant,
/// which is an option to choose.
fn drop_null(found: &mut Ordinary, name: &str) -> bool {
    let Some(mut rest) = found.members.get(name).and_then(Value::as_array).cloned() else { return false };
    let before = rest.len();
    rest.retain(|one| !is_null(one));
    found.is_nullable |= rest.len() < before;
    if let [Value::Object(inner)] = rest.as_slice()
        && !inner.contains_key("const")
    {
        found.members.remove(name);
        add(&mut found.members, inner);
        return true;
    }
    let is_changed = rest.len() < before && !rest.is_empty();
    if is_changed {
        found.members.insert(name.to_owned(), rest.into());
    }
    is_changed
}

/// Whether `null` is the only value of a schema.
fn is_null(schema: &Value) -> bool {
    let is_only = |values: &Value| values.as_array().is_some_and(|values| values.as_slice() == [Value::Null]);
    schema.get("type").is_some_and(|name| name == "null")
        || schema.get("const") == Some(&Value::Null)
        || schema.get("enum").is_some_and(is_only)
}

fn drop_null_type(found: &mut Ordinary) -> bool {
    let Some(mut names) = found.members.get("type").and_then(Value::as_array).cloned() else { return false };
    let before = names.len();
    names.retain(|name| name != "null");
    found.is_nullable |= names.len() < before;
    let is_one = names.len() == 1;
    if names.is_empty() || (names.len() == before && !is_one) {
        return false;
    }
    let kept = if is_one { names.remove(0) } else { names.into() };
    found.members.insert("type".to_owned(), kept);
    true
}

fn drop_null_option(found: &mut Ordinary) -> bool {
    let Some(values) = found.members.get("enum").and_then(Value::as_array).cloned() else { return false };
    let Some(at) = values.iter().position(Value::is_null).filter(|_| values.len() > 1) else { return false };
    found.is_nullable = true;
    for name in ["enum", "enumNames"] {
        if let Some(list) = found.members.get_mut(name).and_then(Value::as_array_mut).filter(|list| at < list.len()) {
            list.remove(at);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plain(root: &Value, schema: &Value) -> (Value, bool) {
        let found = ordinary(root, schema);
        (Value::Object(found.members), found.is_nullable)
    }

    #[test]
    fn a_reference_an_all_of_one_and_an_alternative_null_disappear() {
        let root = json!({ "$defs": {
            "Level": { "title": "Level", "enum": ["low", "high"], "type": "string" },
            "Maybe": { "anyOf": [{ "$ref": "#/$defs/Level" }, { "type": "null" }] },
        } });
        let level = |extra: Value| {
            let mut whole = root["$defs"]["Level"].clone();
            whole.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            whole
        };
        for (schema, expected, is_nullable) in [
            (json!({ "$ref": "#/$defs/Level", "default": "low" }), level(json!({ "default": "low" })), false),
            (json!({ "$ref": "#/$defs/Level", "title": "Mine" }), level(json!({ "title": "Mine" })), false),
            (
                json!({ "allOf": [{ "$ref": "#/$defs/Level" }], "default": "low" }),
                level(json!({ "default": "low" })),
                false,
            ),
            (json!({ "$ref": "#/$defs/Maybe" }), level(json!({})), true),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), json!({ "type": "string" }), true),
            (json!({ "type": ["integer", "null"] }), json!({ "type": "integer" }), true),
            (
                json!({ "enum": ["a", null], "enumNames": ["A", "none"] }),
                json!({ "enum": ["a"], "enumNames": ["A"] }),
                true,
            ),
            (
                json!({ "oneOf": [{ "const": 1, "title": "One" }, { "const": null }] }),
                json!({ "oneOf": [{ "const": 1, "title": "One" }] }),
                true,
            ),
        ] {
            assert_eq!(plain(&root, &schema), (expected, is_nullable), "{schema}");
        }
    }

    #[test]
    fn what_cannot_be_resolved_stays_and_a_circle_ends() {
        for schema in [
            json!({ "$ref": "https://example.org/a.json" }),
            json!({ "$ref": "#/$defs/None" }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!({ "allOf": [{ "type": "string" }, { "minLength": 1 }] }),
            json!({ "type": "null" }),
            json!({ "enum": [null] }),
        ] {
            assert_eq!(plain(&json!({}), &schema).0, schema);
        }
        let root = json!({ "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" } } });
        assert!(ordinary(&root, &root["$defs"]["A"]).members.contains_key("$ref"));
        assert_eq!(plain(&json!({}), &json!(true)), (json!({}), false));
    }
}
