//! A view's fields as JSON Schema 2020-12. Import takes the flat subset that MCP's elicitation allows in
//! `requestedSchema` (protocol versions 2025-11-25 and 2026-07-28), and what libraries of models make of it: references
//! to a definition, `anyOf` with `null`, constants, and titles of the whole. It refuses everything else by name.

use super::{Choice, Field, Kind, ordered::Ordered};
use crate::{
    issue::Issue,
    json_schema::{Ordinary, ordinary},
    limit::{SELECT_OPTIONS_MAX, TITLE_CHARS_MAX, VIEW_FIELDS_MAX},
    line::label_problem,
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
    let kind = kind(root, &mut members);
    let left: Vec<_> = members.left.keys().cloned().collect();
    for name in left {
        members.refuse(&name, "not in the subset of JSON Schema that forms take");
    }
    if !members.issues.is_empty() {
        return Err(members.issues);
    }
    // A title of several lines or of more characters than a label takes would make the whole form unusable.
    let title = title.filter(|text| !text.trim().is_empty());
    let is_titled = title.is_some();
    let label = title.unwrap_or_else(|| members.key.to_owned());
    let label: String = label.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS_MAX).collect();
    if let Some(problem) = label_problem(&label, TITLE_CHARS_MAX).filter(|_| is_titled) {
        return Err(vec![Issue::new(format!("{}.title", members.at), problem)]);
    }
    let key = members.key.to_owned();
    let kind = kind.ok_or_else(|| vec![Issue::new(members.at.clone(), "an unknown type")])?;
    Ok(Field { key, label, help, required, default, show_if: None, hidden: false, prefill: false, kind })
}

fn kind(root: &Value, members: &mut Members) -> Option<Kind> {
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
        Some("array") => several(root, members),
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

/// Several options, or a list of texts if there are none.
fn several(root: &Value, members: &mut Members) -> Option<Kind> {
    let (min_items, max_items) = (members.count("minItems"), members.count("maxItems"));
    let Some(items) = members.left.remove("items").filter(Value::is_object) else {
        members.refuse("items", "{type: string}, {type: string, enum} or {anyOf: [{const, title}]}");
        return None;
    };
    let Ordinary { members: mut left, .. } = ordinary(root, &items);
    // The name of an enumeration that several properties refer to.
    left.retain(|name, _| name != "title" && name != "description");
    let mut inner = Members { at: format!("{}.items", members.at), left, issues: Vec::new(), key: members.key };
    let options = inner.options("anyOf");
    let kind = inner.text("type");
    // With `anyOf` the type is left out.
    if kind.as_ref().is_some_and(|name| name != "string") {
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
        None if kind.as_deref() == Some("string") => Some(Kind::TextList { min_items, max_items }),
        _ => {
            let wanted = format!("`type: string`, or 1 to {SELECT_OPTIONS_MAX} options in `enum` or `anyOf`");
            members.refuse("items", wanted);
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
        Kind::TextList { min_items, max_items } => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": min_items, "maxItems": max_items })
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
#[path = "schema_tests.rs"]
mod tests;
