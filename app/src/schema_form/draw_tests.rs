use super::*;
use crate::render::to_html;
use domain::schema_form::{begin, write};
use serde_json::{Value, json};

fn html_of(schema: &Value, value: Option<&Value>) -> String {
    let form = Form::of_input(schema);
    let texts = value.map_or_else(|| begin(form), |value| write(form, value));
    let place =
        Place { scope: "run", label: "Input", target: "/tools/order/run", nothing: "No input.", keeps_rows: false };
    to_html(draw_fields(place, form, &texts, (&FormState::default(), "")).html)
}

#[test]
fn each_id_and_each_name_is_there_once() {
    let variants =
        json!({ "anyOf": [{ "type": "string" }, { "type": "object", "properties": { "a": { "type": "number" } } }] });
    let schema = json!({
        "type": "object",
        "properties": { "text": variants, "parts": variants, "rows": { "type": "array", "items": variants } },
        "additionalProperties": { "type": "object", "properties": { "due": { "type": "string", "format": "date-time" } } },
    });
    let value = json!({ "text": "x", "parts": { "a": 1 }, "rows": ["y", { "a": 2 }], "more": { "due": "2026-03-01T09:30:00Z" } });
    let html = html_of(&schema, Some(&value));
    for attribute in [" id=\"", " name=\"input"] {
        let mut all: Vec<&str> = html.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert!(count > 10 && all.len() == count, "{attribute}: {html}");
    }
}

#[test]
fn what_a_schema_says_is_text() {
    let evil = "<script>alert(1)</script>";
    let schema = json!({ "type": "object", "required": ["kind"], "properties": {
        "kind": { "const": evil }, "list": { "title": evil, "description": evil, "enum": [evil, "b"] },
        evil: { "type": "object", "properties": { evil: { "default": evil, "type": "string" } } } } });
    for html in [html_of(&schema, None), html_of(&schema, Some(&json!({ evil: { evil: evil } })))] {
        assert!(!html.contains("<script") && html.contains("&lt;script"), "{html}");
    }
}
