//! The operations and schemas of an OpenAPI document. Parsing is lenient: missing parts are omitted.

use serde_json::Value;
use std::collections::BTreeMap;

/// A method on a path of the API, as the document describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// HTTP method in lower case.
    pub method: String,
    /// Path template.
    pub path: String,
    /// The first sentence of its description.
    pub summary: String,
    /// The rest of its description, as Markdown.
    pub description: String,
    /// Parameters in path, query and header.
    pub parameters: Vec<Parameter>,
    /// Name of the schema of the request body.
    pub body: Option<String>,
    /// Responses: `(status, description, schema)`.
    pub responses: Vec<(String, String, Option<String>)>,
}

/// A parameter of an operation, or a member of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the parameter or member.
    pub name: String,
    /// Where it is sent: `path`, `query` or `header`.
    pub location: String,
    /// Whether it is required.
    pub is_required: bool,
    /// Its type as text.
    pub kind: String,
    /// Text from the document, empty if there is none.
    pub description: String,
}

/// A named schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Name of the schema.
    pub name: String,
    /// Text from the document, empty if there is none.
    pub description: String,
    /// Properties of the object, in the order of the document.
    pub members: Vec<Parameter>,
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The type of a schema as text: `string`, `array of Event`, `Session`.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    for join in ["oneOf", "anyOf", "allOf"] {
        let options: Vec<_> = list(schema, join).iter().map(kind).filter(|k| k != "null").collect();
        if !options.is_empty() {
            return options.join(" or ");
        }
    }
    let names: Vec<String> = match schema.get("type") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).filter(|n| *n != "null").map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    let values: Vec<_> = list(schema, "enum").iter().filter_map(Value::as_str).collect();
    if !values.is_empty() {
        return values.join(" | ");
    }
    match names.first().map(String::as_str) {
        Some("array") => format!("array of {}", schema.get("items").map_or_else(|| "anything".to_owned(), kind)),
        Some(name) => name.to_owned(),
        None => "any JSON".to_owned(),
    }
}

fn content_kind(value: &Value) -> Option<String> {
    let content = value.get("content")?.as_object()?;
    let (media, body) = content.iter().next()?;
    Some(body.get("schema").map_or_else(|| media.clone(), kind))
}

/// The operations by their first tag, in the order of their paths.
pub fn operations(document: &Value) -> BTreeMap<String, Vec<Operation>> {
    const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
    let mut groups: BTreeMap<String, Vec<Operation>> = BTreeMap::new();
    let Some(paths) = document.get("paths").and_then(Value::as_object) else { return groups };
    for (path, item) in paths {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let tag = list(operation, "tags").first().and_then(Value::as_str).unwrap_or("API").to_owned();
            let parameters = list(item, "parameters").iter().chain(list(operation, "parameters"));
            let responses = operation.get("responses").and_then(Value::as_object).into_iter().flatten();
            groups.entry(tag).or_default().push(Operation {
                method: method.to_owned(),
                path: path.clone(),
                summary: text(operation, "summary"),
                description: text(operation, "description"),
                parameters: parameters
                    .map(|p| Parameter {
                        name: text(p, "name"),
                        location: text(p, "in"),
                        is_required: p.get("required").and_then(Value::as_bool).unwrap_or_default(),
                        kind: p.get("schema").map(kind).unwrap_or_default(),
                        description: text(p, "description"),
                    })
                    .collect(),
                body: operation.get("requestBody").and_then(content_kind),
                responses: responses
                    .map(|(status, answer)| (status.clone(), text(answer, "description"), content_kind(answer)))
                    .collect(),
            });
        }
    }
    groups
}

/// The named schemas in the order of their names.
pub fn schemas(document: &Value) -> Vec<Schema> {
    let Some(all) = document.pointer("/components/schemas").and_then(Value::as_object) else { return Vec::new() };
    all.iter()
        .map(|(name, schema)| {
            let required: Vec<_> = list(schema, "required").iter().filter_map(Value::as_str).collect();
            let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            Schema {
                name: name.clone(),
                description: text(schema, "description"),
                members: members
                    .map(|(member, value)| Parameter {
                        name: member.clone(),
                        location: String::new(),
                        is_required: required.contains(&member.as_str()),
                        kind: kind(value),
                        description: text(value, "description"),
                    })
                    .collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_read_leniently() {
        let document = json!({
            "paths": { "/api/x/{id}": { "get": {
                "tags": ["x"], "summary": "Reads x.",
                "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
                "responses": { "200": { "description": "x", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/X" } } } } }
            } } },
            "components": { "schemas": { "X": { "required": ["a"], "properties": { "a": { "type": ["array", "null"], "items": { "type": "string" } } } } } }
        });
        let groups = operations(&document);
        let operation = &groups["x"][0];
        assert_eq!((operation.method.as_str(), operation.responses[0].2.as_deref()), ("get", Some("X")));
        assert_eq!(schemas(&document)[0].members[0].kind, "array of string");
        assert!(operations(&json!({})).is_empty() && schemas(&json!(1)).is_empty());
    }
}
