//! A view's fields as JSON Schema 2020-12. Import takes the flat subset that MCP's elicitation allows in
//! `requestedSchema` (protocol versions 2025-11-25 and 2026-07-28), and what libraries of models make of it: references
//! to a definition, `anyOf` with `null`, constants, and titles of the whole. It refuses everything else by name.

use super::{Choice, Field, Kind, ordered::Ordered};
use crate::{
    issue::Issue,
    json_schema::{Ordinary, ordinary},
    limit::{SELECT_OPTIONS_MAX, TITLE_CHARS_MAX, VIEW_FIELDS_MAX},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

/// The dialect that exported schemas name.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Members of the whole that say nothing about its fields.
const ANNOTATIONS: [&str; 5] = ["title", "description", "additionalProperties", "$defs", "definitions"];
/// Longest text of an imported field without `maxLength` that is a short text, characters. A longer one is a
/// long text.
const SHORT_TEXT_CHARS_MAX: u32 = 300;

/// A `requestedSchema`: an object schema whose properties are the fields of a form, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormSchema {
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    r#type: String,
    properties: Ordered,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    required: Vec<String>,
    /// Members that the subset does not have.
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl FormSchema {
    /// Returns the fields that the schema describes.
    ///
    /// # Errors
    /// One [`Issue`] for each part outside of the subset, with its path, such as `properties.age.pattern`.
    pub fn fields(&self) -> Result<Vec<Field>, Vec<Issue>> {
        let mut issues = Vec::new();
        if self.r#type != "object" {
            issues.push(Issue::new("type", "`object`"));
        }
        for name in self.other.keys().filter(|name| !ANNOTATIONS.contains(&name.as_str())) {
            issues.push(Issue::new(name.as_str(), "not in the subset of JSON Schema that forms take"));
        }
        if self.properties.0.len() > VIEW_FIELDS_MAX {
            issues.push(Issue::new("properties", format!("at most {VIEW_FIELDS_MAX} properties")));
        }
        for (index, name) in self.required.iter().enumerate() {
            if !self.properties.0.iter().any(|(key, _)| key == name) {
                issues.push(Issue::new(format!("required[{index}]"), format!("`{name}` is not a property")));
            }
        }
        let mut fields = Vec::new();
        // References are to the definitions, which are among the other members.
        let root = Value::Object(self.other.clone());
        for (key, schema) in &self.properties.0 {
            match field(&root, key, schema, self.required.contains(key)) {
                Ok(field) => fields.push(field),
                Err(refused) => issues.extend(refused),
            }
        }
        if issues.is_empty() { Ok(fields) } else { Err(issues) }
    }
}

/// The members of one property's schema. A member is taken out when it is read; those that remain are refused.
struct Members<'a> {
    at: String,
    left: Map<String, Value>,
    issues: Vec<Issue>,
    key: &'a str,
}

impl Members<'_> {
    fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.issues.push(Issue::new(format!("{}.{name}", self.at), message));
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.left.remove(name)? {
            Value::String(text) => Some(text),
            _ => {
                self.refuse(name, "a string");
                None
            }
        }
    }

    fn count(&mut self, name: &str) -> Option<u32> {
        let value = self.left.remove(name)?;
        let count = value.as_u64().and_then(|n| u32::try_from(n).ok());
        if count.is_none() {
            self.refuse(name, "a whole number that is not negative");
        }
        count
    }

    fn number(&mut self, name: &str) -> Option<Number> {
        match self.left.remove(name)? {
            Value::Number(number) => Some(number),
            _ => {
                self.refuse(name, "a number");
                None
            }
        }
    }

    /// Reads a bound of an integer. Clients write 1 and 1.0 for the same bound.
    fn whole(&mut self, name: &str) -> Option<i64> {
        let number = self.number(name)?;
        #[expect(clippy::cast_possible_truncation, reason = "only whole numbers that an f64 holds exactly")]
        let whole = number.as_i64().or_else(|| {
            number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0).map(|n| n as i64)
        });
        if whole.is_none() {
            self.refuse(name, "a whole number");
        }
        whole
    }

    /// Reads options: `enum` with optional `enumNames`, or a list of `{const, title}` under `titled`.
    fn options(&mut self, titled: &str) -> Option<Vec<Choice>> {
        if let Some(list) = self.left.remove(titled) {
            let read = serde_json::from_value::<Vec<Titled>>(list);
            return match read {
                Ok(list) => Some(list.into_iter().map(Choice::from).collect()),
                Err(_) => {
                    self.refuse(titled, "a list of {const, title}");
                    Some(Vec::new())
                }
            };
        }
        let values = self.left.remove("enum")?;
        let Ok(values) = serde_json::from_value::<Vec<String>>(values) else {
            self.refuse("enum", "a list of strings");
            return Some(Vec::new());
        };
        let names = match self.left.remove("enumNames").map(serde_json::from_value::<Vec<String>>) {
            None => values.clone(),
            Some(Ok(names)) if names.len() == values.len() => names,
            Some(_) => {
                self.refuse("enumNames", "a list of as many strings as `enum` has");
                values.clone()
            }
        };
        Some(values.into_iter().zip(names).map(|(value, label)| Choice { value, label }).collect())
    }
}

/// One option with a title.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Titled {
    r#const: String,
    title: String,
}

impl From<Titled> for Choice {
    fn from(titled: Titled) -> Self {
        Self { value: titled.r#const, label: titled.title }
    }
}

fn field(root: &Value, key: &str, schema: &Value, required: bool) -> Result<Field, Vec<Issue>> {
    let at = format!("properties.{key}");
    let Some(own) = schema.as_object() else { return Err(vec![Issue::new(at, "an object")]) };
    let Ordinary { members, is_nullable } = ordinary(root, schema);
    let mut members = Members { at, left: members, issues: Vec::new(), key };
    // Several properties can refer to one definition, whose title tells none of them apart.
    let title = members.text("title").filter(|_| own.contains_key("title"));
    let help = members.text("description").unwrap_or_default();
    let default = members.left.remove("default").filter(|default| !default.is_null());
    // An answer cannot be `null`, so what may be `null` may be left out.
    let required = required && !is_nullable;
    let kind = kind(&mut members);
    let left: Vec<_> = members.left.keys().cloned().collect();
    for name in left {
        members.refuse(&name, "not in the subset of JSON Schema that forms take");
    }
    if !members.issues.is_empty() {
        return Err(members.issues);
    }
    // A title of several lines or of more characters than a label takes would make the whole form unusable.
    let label = title.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| members.key.to_owned());
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS_MAX).collect();
    let key = members.key.to_owned();
    let kind = kind.ok_or_else(|| vec![Issue::new(members.at.clone(), "an unknown type")])?;
    Ok(Field { key, label, help, required, default, show_if: None, hidden: false, prefill: false, kind })
}

fn kind(members: &mut Members) -> Option<Kind> {
    // A constant is a choice of one option.
    if let Some(Value::String(value)) = members.left.get("const").cloned() {
        members.left.retain(|name, value| name != "const" && !(name == "type" && value == "string"));
        return Some(Kind::SingleChoice { options: vec![Choice { label: value.clone(), value }] });
    }
    match members.text("type").as_deref() {
        Some("string") => Some(string(members)),
        Some("number") => {
            let minimum = members.number("minimum").and_then(|n| n.as_f64());
            Some(Kind::Number { minimum, maximum: members.number("maximum").and_then(|n| n.as_f64()) })
        }
        Some("integer") => Some(Kind::Integer { minimum: members.whole("minimum"), maximum: members.whole("maximum") }),
        Some("boolean") => Some(Kind::YesNo),
        Some("array") => multiple(members),
        _ => {
            members.refuse("type", "one of: string, number, integer, boolean, array");
            None
        }
    }
}

fn string(members: &mut Members) -> Kind {
    if let Some(options) = members.options("oneOf") {
        return Kind::SingleChoice { options };
    }
    let (min_length, max_length) = (members.count("minLength"), members.count("maxLength"));
    let text = match max_length {
        Some(most) if most > SHORT_TEXT_CHARS_MAX => Kind::LongText { min_length, max_length },
        _ => Kind::ShortText { min_length, max_length },
    };
    let Some(format) = members.text("format") else { return text };
    if min_length.is_some() || max_length.is_some() {
        members.refuse("format", "not together with minLength or maxLength");
    }
    match format.as_str() {
        "email" => Kind::Email,
        "uri" => Kind::Url,
        "date" => Kind::Date,
        "date-time" => Kind::DateTime,
        _ => {
            members.refuse("format", "one of: email, uri, date, date-time");
            text
        }
    }
}

fn multiple(members: &mut Members) -> Option<Kind> {
    let (min_items, max_items) = (members.count("minItems"), members.count("maxItems"));
    let Some(Value::Object(items)) = members.left.remove("items") else {
        members.refuse("items", "{type: string, enum} or {anyOf: [{const, title}]}");
        return None;
    };
    let mut inner = Members { at: format!("{}.items", members.at), left: items, issues: Vec::new(), key: members.key };
    let options = inner.options("anyOf");
    // With `anyOf` the type is left out.
    if inner.text("type").is_some_and(|name| name != "string") {
        inner.refuse("type", "`string`");
    }
    let left: Vec<_> = inner.left.keys().cloned().collect();
    for name in left {
        inner.refuse(&name, "not in the subset of JSON Schema that forms take");
    }
    members.issues.append(&mut inner.issues);
    match options {
        Some(options) if (1..=SELECT_OPTIONS_MAX).contains(&options.len()) => {
            Some(Kind::MultipleChoice { options, min_items, max_items })
        }
        _ => {
            members.refuse("items", format!("1 to {SELECT_OPTIONS_MAX} options in `enum` or `anyOf`"));
            None
        }
    }
}

/// Returns the fields as JSON Schema 2020-12. A field that applies only sometimes is not in `required`, and
/// hidden fields are left out. Scales are integers; references are UUIDs; ratings are objects.
pub fn to_schema(fields: &[Field]) -> FormSchema {
    let visible = || fields.iter().filter(|field| !field.hidden);
    let always = visible().filter(|field| field.required && field.show_if.is_none());
    FormSchema {
        dialect: Some(DIALECT.to_owned()),
        r#type: "object".to_owned(),
        properties: Ordered(visible().map(|field| (field.key.clone(), property(field))).collect()),
        required: always.map(|field| field.key.clone()).collect(),
        other: Map::new(),
    }
}

fn property(field: &Field) -> Value {
    let titled = |options: &[Choice]| -> Vec<Value> {
        options.iter().map(|option| json!({ "const": option.value, "title": option.label })).collect()
    };
    let kind = match &field.kind {
        Kind::ShortText { min_length, max_length } => {
            json!({ "type": "string", "minLength": min_length, "maxLength": max_length })
        }
        Kind::LongText { min_length, max_length } => {
            let most = max_length.unwrap_or(crate::limit::FIELD_TEXT_CHARS_MAX as u32);
            json!({ "type": "string", "minLength": min_length, "maxLength": most })
        }
        Kind::Number { minimum, maximum } => json!({ "type": "number", "minimum": minimum, "maximum": maximum }),
        Kind::Integer { minimum, maximum } => json!({ "type": "integer", "minimum": minimum, "maximum": maximum }),
        Kind::YesNo => json!({ "type": "boolean" }),
        Kind::Date => json!({ "type": "string", "format": "date" }),
        Kind::DateTime => json!({ "type": "string", "format": "date-time" }),
        Kind::SingleChoice { options } => json!({ "type": "string", "oneOf": titled(options) }),
        Kind::MultipleChoice { options, min_items, max_items } => {
            let items = json!({ "anyOf": titled(options) });
            json!({ "type": "array", "items": items, "minItems": min_items, "maxItems": max_items })
        }
        Kind::Scale { minimum, maximum, .. } => json!({ "type": "integer", "minimum": minimum, "maximum": maximum }),
        Kind::Rating { dimensions, .. } => {
            let names: Vec<_> = dimensions.iter().map(|dimension| dimension.slug.as_str()).collect();
            json!({ "type": "object", "propertyNames": { "enum": names } })
        }
        Kind::Entity { .. } => json!({ "type": "string", "format": "uuid" }),
        Kind::Email => json!({ "type": "string", "format": "email" }),
        Kind::Url => json!({ "type": "string", "format": "uri" }),
    };
    let mut members = kind.as_object().cloned().unwrap_or_default();
    members.retain(|_, value| !value.is_null());
    members.insert("title".to_owned(), field.label.as_str().into());
    if !field.help.is_empty() {
        members.insert("description".to_owned(), field.help.as_str().into());
    }
    if let Some(default) = &field.default {
        members.insert("default".to_owned(), default.clone());
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(text: &str) -> Result<Vec<Field>, Vec<String>> {
        let schema: FormSchema = serde_json::from_str(text).unwrap();
        schema.fields().map_err(|issues| issues.into_iter().map(|issue| issue.field).collect())
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
            (r#"{"type":"object","properties":{}}"#, "properties.a.type"),
            (r#"{"type":["string","integer"]}"#, "properties.a.type"),
            (r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#, "properties.a.anyOf"),
            (r##"{"$ref":"#/$defs/None"}"##, "properties.a.$ref"),
            (r#"{"const":1}"#, "properties.a.const"),
            (r#"{"type":"number","multipleOf":2}"#, "properties.a.multipleOf"),
            (r#"{"type":"array","items":{"type":"integer","enum":["a"]}}"#, "properties.a.items.type"),
            (r#"{"type":"array","items":{"type":"string"}}"#, "properties.a.items"),
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
}
