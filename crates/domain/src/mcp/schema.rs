//! Schemas of servers. Many name an older dialect; most of these mean the same in 2020-12.

use crate::{
    event::json_depth,
    limit::{JSON_DEPTH_MAX, TOOL_SCHEMA_BYTES_MAX},
};
use serde_json::Value;

/// Dialects whose schemas mean the same in 2020-12 if they have none of the keywords that changed.
const OLDER: [&str; 3] = [
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
];
/// Members whose keys are names, not keywords.
const OF_NAMES: [&str; 5] = ["properties", "patternProperties", "definitions", "$defs", "dependentSchemas"];
/// Members that are values, not schemas.
const OF_VALUES: [&str; 4] = ["enum", "const", "default", "examples"];

/// Returns a schema of a server as one of 2020-12, or why it cannot be one, or is too large.
pub(super) fn adopted(mut schema: Value) -> Result<Value, String> {
    let text = schema.to_string();
    if text.len() > TOOL_SCHEMA_BYTES_MAX {
        return Err(format!("has more than {TOOL_SCHEMA_BYTES_MAX} bytes"));
    }
    if json_depth(&text) > JSON_DEPTH_MAX {
        return Err(format!("is more than {JSON_DEPTH_MAX} levels deep"));
    }
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default().trim_end_matches('#').to_owned();
    if OLDER.contains(&dialect.as_str()) {
        if let Some(keyword) = changed_keyword(&schema) {
            return Err(format!("is of {dialect} and has `{keyword}`, which means something else in 2020-12"));
        }
        if let Value::Object(members) = &mut schema {
            members.remove("$schema");
        }
    }
    Ok(schema)
}

/// A keyword that has another meaning in 2020-12, or none.
fn changed_keyword(schema: &Value) -> Option<&'static str> {
    match schema {
        Value::Object(members) => {
            if members.get("items").is_some_and(Value::is_array) {
                return Some("items");
            }
            let changed = ["additionalItems", "dependencies", "$recursiveRef"];
            if let Some(keyword) = changed.into_iter().find(|keyword| members.contains_key(*keyword)) {
                return Some(keyword);
            }
            let below = members.iter().filter(|(name, _)| !OF_VALUES.contains(&name.as_str()));
            below
                .flat_map(|(name, value)| match value {
                    Value::Object(named) if OF_NAMES.contains(&name.as_str()) => named.values().collect::<Vec<_>>(),
                    other => vec![other],
                })
                .find_map(changed_keyword)
        }
        Value::Array(items) => items.iter().find_map(changed_keyword),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_of_an_older_dialect_is_taken_if_it_means_the_same() {
        let draft_07 = "http://json-schema.org/draft-07/schema#";
        let schema = json!({
            "$schema": draft_07, "type": "object",
            "properties": { "items": { "type": "array", "items": { "type": "string" } }, "dependencies": {} },
            "default": { "dependencies": [] },
        });
        let taken = adopted(schema).unwrap();
        assert!(taken.get("$schema").is_none() && taken["properties"]["items"]["items"]["type"] == "string");
        for (bad, keyword) in [
            (json!({ "$schema": draft_07, "items": [{}] }), "`items`"),
            (json!({ "$schema": draft_07, "properties": { "a": { "dependencies": {} } } }), "`dependencies`"),
            (json!({ "$schema": draft_07, "anyOf": [{ "additionalItems": false }] }), "`additionalItems`"),
        ] {
            assert!(adopted(bad).unwrap_err().contains(keyword), "{keyword}");
        }
        // What is no older dialect is judged when the tool is made.
        let other = json!({ "$schema": "http://json-schema.org/draft-04/schema#" });
        assert_eq!(adopted(other.clone()), Ok(other));
    }

    #[test]
    fn a_schema_that_is_too_large_or_too_deep_is_refused() {
        let large = json!({ "title": "x".repeat(TOOL_SCHEMA_BYTES_MAX) });
        assert!(adopted(large).unwrap_err().contains("bytes"));
        let deep = (0..JSON_DEPTH_MAX).fold(json!({}), |inner, _| json!({ "not": inner }));
        assert!(adopted(deep).unwrap_err().contains("levels"));
    }
}
