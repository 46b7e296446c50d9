//! Variants: schemas of which a value fulfils one, and schemas that are combined.

use super::choice::choices;
use crate::{entity::display_text, json_schema::ordinary, limit::SCHEMA_FORM_VARIANTS_MAX, line::without_overrides};
use serde_json::{Map, Value};

/// Levels of variants inside of variants.
const VARIANT_DEPTH_MAX: usize = 4;

/// One of several schemas of a part.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub label: String,
    pub schema: Value,
}

/// The variants of a part that has some. Those that only name required members are no variants.
pub(super) fn variants(root: &Value, members: &Map<String, Value>) -> Option<Vec<Variant>> {
    let mut found = Vec::new();
    collect(root, members, VARIANT_DEPTH_MAX, &mut found);
    (found.len() > 1).then(|| {
        let label = |(index, members): (usize, Map<String, Value>)| {
            let label = without_overrides(&variant_label(&members, index));
            Variant { label, schema: Value::Object(members) }
        };
        found.into_iter().enumerate().map(label).collect()
    })
}

fn collect(root: &Value, members: &Map<String, Value>, depth: usize, found: &mut Vec<Map<String, Value>>) {
    if found.len() > SCHEMA_FORM_VARIANTS_MAX {
        return;
    }
    let named = ["oneOf", "anyOf"].into_iter().find(|name| has_variants(members, name));
    if let Some(name) = named.filter(|_| depth > 0 && choices(members).is_none()) {
        let mut base = members.clone();
        let list = base.remove(name);
        // Texts and the default of the whole do not belong to a variant.
        ["title", "description", "default"].into_iter().for_each(|name| drop(base.remove(name)));
        for one in list.as_ref().and_then(Value::as_array).into_iter().flatten() {
            if found.len() > SCHEMA_FORM_VARIANTS_MAX {
                return;
            }
            let own = ordinary(root, one);
            let mut variant = base.clone();
            combine(&mut variant, own.members, true);
            if own.is_nullable && !found.iter().any(is_null) {
                found.push(Map::from_iter([("type".to_owned(), Value::from("null"))]));
            }
            collect(root, &variant, depth - 1, found);
        }
        return;
    }
    match members.get("type").and_then(Value::as_array) {
        Some(types) if types.len() > 1 => {
            for one in types {
                let mut variant = members.clone();
                variant.insert("type".to_owned(), one.clone());
                ["title", "description", "default"].into_iter().for_each(|name| drop(variant.remove(name)));
                found.push(variant);
            }
        }
        _ => found.push(members.clone()),
    }
}

fn is_null(members: &Map<String, Value>) -> bool {
    members.get("type").is_some_and(|name| name == "null")
}

/// Whether a list of schemas describes different values, and not only which members are required.
fn has_variants(members: &Map<String, Value>, name: &str) -> bool {
    let only_requires = |one: &Value| {
        one.as_object()
            .is_some_and(|of| of.keys().all(|key| matches!(key.as_str(), "required" | "not" | "title" | "description")))
    };
    let list = members.get(name).and_then(Value::as_array);
    list.is_some_and(|list| !list.is_empty() && !list.iter().all(only_requires))
}

/// Adds the members of each schema of `allOf`.
pub(super) fn combine_all(root: &Value, members: &mut Map<String, Value>) {
    let Some(Value::Array(all)) = members.remove("allOf") else { return };
    for one in &all {
        combine(members, ordinary(root, one).members, false);
    }
}

/// Adds the members of another schema for the same value. Properties and required names of both are kept; of others,
/// those of `other` replace these if it `prevails`.
fn combine(members: &mut Map<String, Value>, other: Map<String, Value>, prevails: bool) {
    for (name, value) in other {
        let Some(known) = members.get_mut(&name) else {
            members.insert(name, value);
            continue;
        };
        match (known, value) {
            (Value::Object(known), Value::Object(more)) if name == "properties" => {
                for (key, schema) in more {
                    if prevails || !known.contains_key(&key) {
                        known.insert(key, schema);
                    }
                }
            }
            (Value::Array(known), Value::Array(more)) if name == "required" => {
                let new: Vec<Value> = more.into_iter().filter(|one| !known.contains(one)).collect();
                known.extend(new);
            }
            (known, value) if prevails => *known = value,
            _ => {}
        }
    }
}

/// The type of a schema: the one that it names, or that its other members imply.
pub(super) fn type_of(members: &Map<String, Value>) -> Option<&str> {
    let implied = || {
        let has = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
        if has(&["properties", "additionalProperties", "patternProperties", "required"]) {
            Some("object")
        } else if has(&["items", "prefixItems", "minItems", "maxItems"]) {
            Some("array")
        } else if has(&["minLength", "maxLength", "pattern", "format", "contentMediaType"]) {
            Some("string")
        } else {
            None
        }
    };
    members.get("type").map_or_else(implied, Value::as_str)
}

/// The label of a variant: its title, the constant that distinguishes it, or its type.
fn variant_label(members: &Map<String, Value>, index: usize) -> String {
    let title = members.get("title").and_then(Value::as_str).unwrap_or_default().trim();
    if !title.is_empty() {
        return title.chars().take(120).collect();
    }
    let properties = members.get("properties").and_then(Value::as_object);
    let constant = properties.into_iter().flatten().find_map(|(_, schema)| {
        let only =
            schema.get("enum").and_then(Value::as_array).filter(|all| all.len() == 1).and_then(|all| all.first());
        schema.get("const").or(only).map(display_text)
    });
    if let Some(constant) = constant.filter(|text| !text.is_empty()) {
        return constant.chars().take(120).collect();
    }
    let keys = properties.map(|all| all.keys().take(3).map(String::as_str).collect::<Vec<_>>().join(", "));
    match (type_of(members), keys) {
        (Some("object"), Some(keys)) if !keys.is_empty() => keys,
        (Some("object"), _) => "Object".to_owned(),
        (Some("array"), _) => "List".to_owned(),
        (Some("string"), _) if members.contains_key("enum") => "One of a list".to_owned(),
        (Some("string"), _) => "Text".to_owned(),
        (Some("number"), _) => "Number".to_owned(),
        (Some("integer"), _) => "Whole number".to_owned(),
        (Some("boolean"), _) => "Yes or no".to_owned(),
        (Some("null"), _) => "Nothing".to_owned(),
        _ if members.contains_key("enum") => "One of a list".to_owned(),
        _ => format!("Variant {}", index + 1),
    }
}
