use super::*;

fn import(text: &str) -> Result<Vec<Field>, Vec<String>> {
    let schema: FormSchema = serde_json::from_str(text).unwrap();
    schema.fields().map_err(|issues| issues.into_iter().map(|issue| issue.field).collect())
}

#[test]
fn a_list_of_texts_is_taken_with_its_bounds_and_given_back() {
    let text = r#"{"type":"object","properties":{
        "stops":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":5},
        "any":{"type":"array","items":{"type":"string","title":"Stop"}}}}"#;
    let fields = import(text).unwrap();
    assert_eq!(fields[0].kind, Kind::TextList { min_items: Some(1), max_items: Some(5) });
    assert_eq!(fields[1].kind, Kind::TextList { min_items: None, max_items: None });
    let again: Vec<Kind> = to_schema(&fields).fields().unwrap().into_iter().map(|field| field.kind).collect();
    assert_eq!(again, fields.into_iter().map(|field| field.kind).collect::<Vec<_>>());
    for items in [r#"{"type":"integer"}"#, "{}", r#"{"type":"string","pattern":"a"}"#, r#"{"enum":[]}"#] {
        let list = format!(r#"{{"type":"object","properties":{{"a":{{"type":"array","items":{items}}}}}}}"#);
        let refused = import(&list).unwrap_err();
        assert!(refused.iter().all(|field| field.starts_with("properties.a.items")), "{items}: {refused:?}");
    }
}

#[test]
fn the_options_of_a_list_can_be_those_of_a_definition() {
    let text = r##"{"type":"object","$defs":{"Level":{"title":"Level","type":"string","enum":["low","high"]}},
        "properties":{"levels":{"type":"array","items":{"$ref":"#/$defs/Level"},"maxItems":1}}}"##;
    let Kind::MultipleChoice { options, max_items, .. } = &import(text).unwrap()[0].kind else { panic!() };
    let values: Vec<_> = options.iter().map(|option| option.value.as_str()).collect();
    assert_eq!((values, *max_items), (vec!["low", "high"], Some(1)));
}

#[test]
fn the_order_of_the_properties_is_the_order_of_the_fields() {
    let text = r#"{"type":"object","properties":{"zulu":{"type":"boolean"},"alpha":{"type":"integer"}}}"#;
    let keys: Vec<_> = import(text).unwrap().into_iter().map(|field| field.key).collect();
    assert_eq!(keys, ["zulu", "alpha"]);
}

#[test]
fn every_type_of_an_elicitation_becomes_a_field_and_comes_back() {
    let text = r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Your name", "description": "As in the contract", "minLength": 1, "maxLength": 80, "default": "Ada" },
            "essay": { "type": "string", "title": "Essay", "maxLength": 5000 },
            "mail": { "type": "string", "title": "Mail", "format": "email" },
            "home": { "type": "string", "title": "Home", "format": "uri" },
            "born": { "type": "string", "title": "Born", "format": "date" },
            "at": { "type": "string", "title": "At", "format": "date-time" },
            "share": { "type": "number", "title": "Share", "minimum": 0.5, "maximum": 1.5 },
            "age": { "type": "integer", "title": "Age", "minimum": 0, "default": 30 },
            "ok": { "type": "boolean", "title": "OK", "default": false },
            "one": { "type": "string", "title": "One", "oneOf": [{ "const": "#f00", "title": "Red" }] },
            "many": { "type": "array", "title": "Many", "minItems": 1, "maxItems": 2, "items": { "anyOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }] } }
        },
        "required": ["name", "ok"]
    }"##;
    let fields = import(text).unwrap();
    let kinds: Vec<_> = fields.iter().map(|field| field.kind.name()).collect();
    let expected = [
        "short_text",
        "long_text",
        "email",
        "url",
        "date",
        "date_time",
        "number",
        "integer",
        "yes_no",
        "single_choice",
        "multiple_choice",
    ];
    assert_eq!(kinds, expected);
    assert!(super::super::check_fields(&fields).is_empty());
    let given: FormSchema = serde_json::from_str(text).unwrap();
    assert_eq!(to_schema(&fields), given);
}

#[test]
fn both_untitled_and_legacy_options_are_taken() {
    let text = r#"{"type":"object","properties":{
        "a": { "type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"] },
        "b": { "type": "array", "items": { "type": "string", "enum": ["x"] } }
    }}"#;
    let fields = import(text).unwrap();
    let label = |value: &str, label: &str| Choice { value: value.into(), label: label.into() };
    assert_eq!(fields[0].kind, Kind::SingleChoice { options: vec![label("x", "Ex"), label("y", "Why")] });
    let options = vec![label("x", "x")];
    assert_eq!(fields[1].kind, Kind::MultipleChoice { options, min_items: None, max_items: None });
}

#[test]
fn what_libraries_of_models_write_becomes_ordinary_fields() {
    let text = r##"{"title":"Args","type":"object","additionalProperties":false,
        "$defs":{"Level":{"title":"Level","enum":["low","high"],"type":"string"}},
        "properties":{
            "query":{"title":"Query","type":"string"},
            "level":{"$ref":"#/$defs/Level","default":"low"},
            "next":{"anyOf":[{"$ref":"#/$defs/Level"},{"type":"null"}],"default":null},
            "limit":{"anyOf":[{"type":"integer","minimum":0},{"type":"null"}],"default":5,"title":"Limit"},
            "note":{"type":["string","null"],"title":"Note"},
            "mode":{"const":"fast","default":"fast","type":"string","title":"Mode"}
        },"required":["query","limit"]}"##;
    let fields = import(text).unwrap();
    let shown: Vec<_> = fields
        .iter()
        .map(|field| (field.label.as_str(), field.kind.name(), field.required, field.default.clone()))
        .collect();
    assert_eq!(
        shown,
        [
            ("Query", "short_text", true, None),
            ("level", "single_choice", false, Some(json!("low"))),
            ("next", "single_choice", false, None),
            ("Limit", "integer", false, Some(json!(5))),
            ("Note", "short_text", false, None),
            ("Mode", "single_choice", false, Some(json!("fast"))),
        ]
    );
    assert!(super::super::check_fields(&fields).is_empty(), "every default is a valid answer");
}

#[test]
fn everything_outside_of_the_subset_is_refused_by_its_path() {
    for (property, path) in [
        (r#"{"type":"string","pattern":"^a"}"#, "properties.a.pattern"),
        (r#"{"type":"string","format":"password"}"#, "properties.a.format"),
        (r#"{"type":"string","title":"a\u202eb"}"#, "properties.a.title"),
        (r#"{"type":"string","title":"a\u001bb"}"#, "properties.a.title"),
        (r#"{"type":"object","properties":{}}"#, "properties.a.type"),
        (r#"{"type":["string","integer"]}"#, "properties.a.type"),
        (r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#, "properties.a.anyOf"),
        (r##"{"$ref":"#/$defs/None"}"##, "properties.a.$ref"),
        (r#"{"const":1}"#, "properties.a.const"),
        (r#"{"type":"number","multipleOf":2}"#, "properties.a.multipleOf"),
        (r#"{"type":"array","items":{"type":"integer","enum":["a"]}}"#, "properties.a.items.type"),
        (r#"{"type":"array","items":{}}"#, "properties.a.items"),
        (r#"{"type":"string","enum":[1]}"#, "properties.a.enum"),
        (r#"{"type":"integer","minimum":1.5}"#, "properties.a.minimum"),
        (r#"{"type":"string","minLength":-1}"#, "properties.a.minLength"),
    ] {
        let text = format!(r#"{{"type":"object","properties":{{"a":{property}}}}}"#);
        let refused = import(&text).unwrap_err();
        assert!(refused.contains(&path.to_owned()), "{property}: {refused:?}");
    }
    assert_eq!(import(r#"{"type":"object","properties":{},"allOf":[]}"#).unwrap_err(), ["allOf"]);
    assert_eq!(import(r#"{"type":"object","properties":{},"required":["a"]}"#).unwrap_err(), ["required[0]"]);
}

#[test]
fn an_exported_schema_keeps_the_order_and_leaves_out_what_is_not_asked() {
    let fields: Vec<Field> = serde_json::from_value(json!([
        { "key": "z", "label": "Z", "type": "scale", "minimum": 1, "maximum": 5, "required": true },
        { "key": "a", "label": "A", "type": "yes_no", "required": true, "showIf": { "field": "z", "equals": 5 } },
        { "key": "h", "label": "H", "type": "short_text", "hidden": true },
    ]))
    .unwrap();
    let text = serde_json::to_string(&to_schema(&fields)).unwrap();
    assert!(text.find("\"z\"") < text.find("\"a\""), "{text}");
    assert!(text.contains(r#""required":["z"]"#) && !text.contains("\"h\""), "{text}");
}
