//! P-33: null in a request's body is accepted exactly where the OpenAPI document says so.

use crate::app::{App, Who, problem};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Objects within objects that are looked into.
const DEPTH_MAX: usize = 4;

/// A property of a body: the names and list places that lead to it, and its schema.
struct Property {
    path: Vec<String>,
    schema: Value,
}

impl Property {
    /// The smallest body in which this property is null.
    fn body(&self) -> Value {
        self.path.iter().rev().fold(Value::Null, |inner, step| match step.as_str() {
            "[0]" => json!([inner]),
            name => json!({ name: inner }),
        })
    }

    /// The property's name in problems.
    fn name(&self) -> String {
        self.path.join(".").replace(".[", "[")
    }
}

fn resolve<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    while let Some(reference) = schema["$ref"].as_str() {
        schema = document.pointer(&reference[1..]).unwrap();
    }
    schema
}

/// The schema and the alternatives that it consists of.
fn alternatives<'a>(document: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let schema = resolve(document, schema);
    let parts = ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|key| schema[key].as_array().into_iter().flatten());
    let mut all: Vec<_> = parts.flat_map(|part| alternatives(document, part)).collect();
    all.push(schema);
    all
}

fn takes_null(document: &Value, schema: &Value) -> bool {
    alternatives(document, schema).into_iter().any(|schema| {
        let kind = &schema["type"];
        let open = ["type", "oneOf", "anyOf", "allOf", "enum"].iter().all(|key| schema.get(key).is_none());
        open || kind == "null" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("null")))
    })
}

fn add_properties(document: &Value, schema: &Value, before: &[String], properties: &mut Vec<Property>) {
    if before.len() >= DEPTH_MAX {
        return;
    }
    for schema in alternatives(document, schema) {
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let path = [before, std::slice::from_ref(name)].concat();
            add_properties(document, schema, &path, properties);
            properties.push(Property { path, schema: schema.clone() });
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            add_properties(document, items, &[before, &["[0]".to_owned()]].concat(), properties);
        }
    }
}

/// Whether the problem says that this property must not be null.
fn refuses_null(problem: &Value, name: &str) -> bool {
    let errors = problem["errors"].as_array().into_iter().flatten();
    errors.filter(|error| error["field"] == name).any(|error| {
        let message = error["message"].as_str().unwrap();
        message.contains("null") || message.ends_with("is expected here")
    })
}

#[tokio::test]
async fn null_is_accepted_exactly_where_the_document_says_so() {
    let app = App::start();
    let document = app.request(Who::Anonymous, Method::GET, "/api/openapi.json").send().await.unwrap();
    let document: Value = document.json().await.unwrap();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let body = resolve(&document, &operation["requestBody"]);
            let Some(schema) = body.pointer("/content/application~1json/schema") else { continue };
            let mut properties = Vec::new();
            add_properties(&document, schema, &[], &mut properties);
            let at = path
                .replace("{id}", "00000000-0000-7000-8000-000000000000")
                .replace("{source}", "claude-code")
                .replace("{slug}", "scout")
                .replace("{name}", "KEY")
                .replace("/memory/document", "/memory/document?path=notes/a.md");
            let method: Method = method.to_uppercase().parse().unwrap();
            for property in properties {
                tried += 1;
                let request = app.request(Who::Admin, method.clone(), &at).json(&property.body());
                let answer = request.send().await.unwrap();
                let succeeded = answer.status().is_success();
                let refused = !succeeded && {
                    assert_ne!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
                    refuses_null(&problem(answer).await.1, &property.name())
                };
                let documented = takes_null(&document, &property.schema);
                if (documented && refused) || (!documented && succeeded) {
                    wrong.push(format!("{method} {path}: {}", property.name()));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(tried > 300, "{tried} properties");
}
