//! The limit of a document's schema.

use crate::limit::CANVAS_SCHEMA_NODES_MAX;
use serde_json::Value;

/// Members that name another schema in a way that is not followed here.
const NOT_FOLLOWED: [&str; 5] = ["$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"];
/// Deepest nesting of a schema with the schemas that it refers to.
const DEPTH_MAX: usize = 200;

/// Whether a schema is small when each reference is replaced by what it refers to. A value is checked by each schema on
/// its way, so references that double at each step would take without end, under the lock of the session. A schema
/// that refers to itself is not small.
pub fn is_small_schema(schema: &Value) -> bool {
    let mut left = CANVAS_SCHEMA_NODES_MAX;
    is_within(schema, schema, DEPTH_MAX, &mut left)
}

fn is_within(root: &Value, schema: &Value, depth: usize, left: &mut usize) -> bool {
    let (Some(rest), Some(depth)) = (left.checked_sub(1), depth.checked_sub(1)) else { return false };
    *left = rest;
    match schema {
        Value::Object(members) => {
            // A member of `properties` can have one of these names, but then its value is a schema.
            let is_text = |name: &&str| members.get(*name).is_some_and(Value::is_string);
            if NOT_FOLLOWED.iter().any(is_text) {
                return false;
            }
            let target = members.get("$ref").and_then(Value::as_str);
            let is_target_within = target.is_none_or(|target| {
                let target = target.strip_prefix('#').and_then(|path| root.pointer(path));
                target.is_some_and(|target| is_within(root, target, depth, left))
            });
            is_target_within && members.values().all(|value| is_within(root, value, depth, left))
        }
        Value::Array(items) => items.iter().all(|item| is_within(root, item, depth, left)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    #[test]
    fn references_count_as_what_they_refer_to() {
        let point =
            json!({ "type": "object", "properties": { "$id": { "type": "string" }, "x": { "type": "number" } } });
        let line = json!({ "from": { "$ref": "#/$defs/point" }, "to": { "$ref": "#/$defs/point" } });
        assert!(is_small_schema(&json!({ "$defs": { "point": point }, "properties": line })));
        // Each definition checks a value twice by the next one.
        let next = |at: u32| json!({ "$ref": format!("#/$defs/{}", at + 1) });
        let mut defs: Map<_, _> =
            (0..30).map(|at| (at.to_string(), json!({ "allOf": [next(at), next(at)] }))).collect();
        defs.insert("30".to_owned(), json!({ "type": "string" }));
        assert!(!is_small_schema(&json!({ "$defs": defs, "$ref": "#/$defs/0" })));
        for endless in [
            json!({ "$ref": "#" }),
            json!({ "properties": { "child": { "$ref": "#" } } }),
            json!({ "$ref": "#/none" }),
            json!({ "$ref": "https://example.org/schema" }),
            json!({ "$id": "https://example.org/a", "$defs": { "b": { "$ref": "a" } } }),
            json!({ "$dynamicRef": "#a", "$defs": { "a": { "$dynamicAnchor": "a" } } }),
        ] {
            assert!(!is_small_schema(&endless), "{endless}");
        }
    }
}
