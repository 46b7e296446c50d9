//! The input of an action's sessions. `metadata.inputSchema`, a JSON Schema, describes it.

use serde_json::{Map, Value};

/// Key of the schema in an action's metadata.
pub const INPUT_SCHEMA: &str = "inputSchema";

/// Returns the input that consists of a schema's defaults: one entry for each top-level property with a
/// default.
pub fn default_input(schema: &Value) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let with_default = |(name, property): (&String, &Value)| Some((name.clone(), property.get("default")?.clone()));
    properties.into_iter().flatten().filter_map(with_default).collect()
}

/// Whether an action with this metadata can be run only with an input from the caller, because its schema
/// requires a property without a default.
pub fn needs_input(metadata: &Map<String, Value>) -> bool {
    let Some(schema) = metadata.get(INPUT_SCHEMA) else { return false };
    let defaults = default_input(schema);
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str).any(|name| !defaults.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_input_is_needed_where_something_required_has_no_default() {
        let needs = |schema: Value| needs_input(&Map::from_iter([(INPUT_SCHEMA.to_owned(), schema)]));
        let properties = json!({ "week": { "default": 1 }, "team": { "type": "string" } });
        assert!(needs(json!({ "required": ["week", "team"], "properties": properties })));
        assert!(!needs(json!({ "required": ["week"], "properties": properties })));
        assert!(!needs(json!({ "properties": properties })));
        assert!(!needs(json!(null)) && !needs_input(&Map::new()));
        assert_eq!(Value::from(default_input(&json!({ "properties": properties }))), json!({ "week": 1 }));
        assert!(default_input(&json!(true)).is_empty());
    }
}
