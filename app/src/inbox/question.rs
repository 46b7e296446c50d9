//! Forms generated from a JSON Schema, and reading what was typed into them: answers to questions, and the input of a
//! task.
//!
//! An object gets one field per property, named `answer.KEY`; any other value gets one field named `answer`. Lists
//! and nested objects are typed as JSON. The answer is validated against the schema when it is recorded, not here.

use super::{item_text::field_text, values::Control};
use crate::{
    FieldError, FormState,
    render::static_html,
    text::label::slug_label,
    ui::field::{Field, Input, Select, TextArea},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::{Map, Value};

/// Most properties that get a field each; a value with more is typed as JSON.
const FIELDS_MAX: usize = 40;
/// Texts that may be longer than this get a text area, characters.
const LINE_CHARS_MAX: u64 = 200;
/// Name of the only field of an answer that is not an object.
pub const ANSWER: &str = "answer";

/// One field of a generated form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Key of the property; absent if the field holds the whole value.
    key: Option<String>,
    /// Name of the form field.
    pub name: String,
    label: String,
    hint: String,
    required: bool,
    start: String,
    control: Control,
    /// The values of the options, in the order of the options. A text area with options takes several, one on each
    /// line.
    choices: Vec<Value>,
    /// Labels of the options.
    labels: Vec<String>,
}

/// The name of the field for a member of a value, of the name of the value's own field and the member's key.
pub type MemberName = fn(&str, &str) -> String;

/// The fields for a value of this schema. `base` is the name of the field for the whole value; `default_label` labels a
/// field without a title.
pub fn schema_fields(schema: &Value, (base, member): (&str, MemberName), default_label: &str) -> Vec<FormField> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
        let title = text(schema, "title");
        let label = if title.is_empty() { default_label.to_owned() } else { title };
        return vec![new_field(None, base.to_owned(), label, schema, true)];
    };
    if properties.len() > FIELDS_MAX {
        return vec![new_field(None, base.to_owned(), default_label.to_owned(), &Value::Null, true)];
    }
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let field = |(key, of): (&String, &Value)| {
        let title = text(of, "title");
        let label = if title.is_empty() { slug_label(key) } else { title };
        new_field(Some(key.clone()), member(base, key), label, of, required.contains(&key.as_str()))
    };
    properties.iter().map(field).collect()
}

fn text(of: &Value, member: &str) -> String {
    of.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn new_field(key: Option<String>, name: String, label: String, of: &Value, required: bool) -> FormField {
    let (control, choices, labels) = control(of);
    let mut hint = text(of, "description");
    if control == Control::Json {
        hint = format!("{hint} JSON.").trim_start().to_owned();
    }
    if control == Control::MultiLine && !labels.is_empty() {
        hint = format!("{hint} Any of these, one on each line: {}.", labels.join(", ")).trim_start().to_owned();
    }
    let start = of.get("default").map(start_text).unwrap_or_default();
    FormField { key, name, label, hint, required, start, control, choices, labels }
}

/// A value as the text of a control. A list of texts has one on each line.
pub fn start_text(value: &Value) -> String {
    let lines: Option<Vec<&str>> =
        value.as_array().map(|list| list.iter().map(|one| one.as_str()).collect()).unwrap_or_default();
    lines.map_or_else(|| field_text(value), |lines| lines.join("\n"))
}

fn is_type(of: &Value, name: &str) -> bool {
    match of.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

fn control(of: &Value) -> (Control, Vec<Value>, Vec<String>) {
    if let Some((values, labels)) = choices(of) {
        let mut options = vec![(String::new(), "—".to_owned())];
        options.extend(values.iter().map(field_text).zip(labels.iter().cloned()));
        return (Control::Choice(options), values, labels);
    }
    if let Some((values, labels)) = of.get("items").filter(|_| is_type(of, "array")).and_then(choices) {
        return (Control::MultiLine, values, labels);
    }
    let is_long = of.get("maxLength").and_then(Value::as_u64).is_some_and(|max| max > LINE_CHARS_MAX);
    let control = if is_type(of, "boolean") {
        Control::Boolean
    } else if is_type(of, "number") || is_type(of, "integer") {
        Control::Number
    } else if !is_type(of, "string") {
        Control::Json
    } else if of.get("format").is_some_and(|format| format == "date") {
        Control::Date
    } else if is_long {
        Control::MultiLine
    } else {
        Control::SingleLine
    };
    (control, Vec::new(), Vec::new())
}

/// The values and labels of an enumeration: `enum` (with `enumNames`), or `oneOf` and `anyOf` of constants.
fn choices(of: &Value) -> Option<(Vec<Value>, Vec<String>)> {
    if let Some(values) = of.get("enum").and_then(Value::as_array) {
        let names = of.get("enumNames").and_then(Value::as_array);
        let label = |(at, value): (usize, &Value)| {
            let name = names.and_then(|names| names.get(at)?.as_str());
            name.map_or_else(|| field_text(value), str::to_owned)
        };
        return Some((values.clone(), values.iter().enumerate().map(label).collect()));
    }
    let several = of.get("oneOf").or_else(|| of.get("anyOf")).and_then(Value::as_array)?;
    let values: Option<Vec<Value>> = several.iter().map(|one| one.get("const").cloned()).collect();
    let label = |one: &Value| {
        let title = text(one, "title");
        if title.is_empty() { one.get("const").map(field_text).unwrap_or_default() } else { title }
    };
    Some((values?, several.iter().map(label).collect()))
}

impl FormField {
    /// Sets the start value of the field from an earlier value.
    pub fn starting_with(self, before: &Value) -> Self {
        let value = match &self.key {
            Some(key) => before.get(key),
            None => Some(before),
        };
        Self { start: value.map_or_else(|| self.start.clone(), start_text), ..self }
    }
}

/// Renders the fields. `scope` is the prefix of their ids; `form` restores what was typed.
pub fn render_fields(scope: &str, form_fields: &[FormField], form: &FormState) -> Vec<InertElement> {
    let one = |form_field: &FormField| {
        let field = Field {
            name: &form_field.name,
            label: &form_field.label,
            hint: &form_field.hint,
            required: form_field.required,
        };
        let has_lines = form.value_or(&form_field.name, &form_field.start).contains('\n');
        match &form_field.control {
            // A one-line input would join the lines.
            Control::SingleLine if has_lines => {
                static_html(view! { <TextArea scope=scope field=field value=&form_field.start form=form/> })
            }
            Control::SingleLine | Control::Number => {
                static_html(view! { <Input scope=scope field=field value=&form_field.start form=form/> })
            }
            Control::Date => {
                static_html(view! { <Input scope=scope field=field kind="date" value=&form_field.start form=form/> })
            }
            Control::MultiLine => {
                static_html(view! { <TextArea scope=scope field=field value=&form_field.start form=form/> })
            }
            Control::Json => {
                static_html(view! { <TextArea scope=scope field=field json=true value=&form_field.start form=form/> })
            }
            Control::Choice(options) => static_html(
                view! { <Select scope=scope field=field options=options.clone() value=&form_field.start form=form/> },
            ),
            Control::Boolean => {
                let options = [("", "—"), ("true", "Yes"), ("false", "No")];
                static_html(
                    view! { <Select scope=scope field=field options=options.map(|(v, l)| (v.to_owned(), l.to_owned())).into() value=&form_field.start form=form/> },
                )
            }
        }
    };
    form_fields.iter().map(one).collect()
}

/// The value that was typed, as JSON; `None` if every field is empty. `typed` returns the text of a form field, or
/// `None` if the field was not sent.
///
/// # Errors
/// One error for each field whose text cannot be parsed, with the name of the field.
pub fn typed_value(
    form_fields: &[FormField],
    typed: impl Fn(&str) -> Option<String>,
) -> Result<Option<Value>, Vec<FieldError>> {
    let (mut answer, mut wrong) = (Map::new(), Vec::new());
    for form_field in form_fields {
        let text = typed(&form_field.name).unwrap_or_default();
        match value(form_field, text.trim_end_matches(['\r', '\n'])) {
            Ok(Some(value)) => match &form_field.key {
                Some(key) => {
                    answer.insert(key.clone(), value);
                }
                None => return Ok(Some(value)),
            },
            Ok(None) => {}
            Err(message) => wrong.push(FieldError { field: Some(form_field.name.clone()), message }),
        }
    }
    let is_object = form_fields.iter().any(|form_field| form_field.key.is_some());
    match (wrong.is_empty(), is_object) {
        (false, _) => Err(wrong),
        (true, true) => Ok(Some(Value::Object(answer))),
        (true, false) => Ok(None),
    }
}

fn value(form_field: &FormField, text: &str) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value = match &form_field.control {
        Control::MultiLine if !form_field.choices.is_empty() => several(form_field, text)?,
        Control::SingleLine | Control::MultiLine | Control::Date => Value::from(text),
        Control::Choice(_) => {
            let chosen = form_field.choices.iter().find(|value| field_text(value) == text);
            chosen.cloned().ok_or("Choose one of the options.")?
        }
        Control::Boolean => text.parse().map(Value::Bool).map_err(|_| "Choose yes or no.")?,
        Control::Number => {
            text.trim().parse().map(Value::Number).map_err(|_| "Enter a number, with a point before decimals.")?
        }
        Control::Json => serde_json::from_str(text).map_err(|error| format!("This is not valid JSON: {error}."))?,
    };
    Ok(Some(value))
}

/// The options that a text names, one on each line, by value or label.
fn several(form_field: &FormField, text: &str) -> Result<Value, String> {
    let option = |line: &str| {
        let is_it = |(value, label): &(&Value, &String)| field_text(value) == line || label.as_str() == line;
        let found = form_field.choices.iter().zip(&form_field.labels).find(is_it);
        found.map(|(value, _)| value.clone()).ok_or_else(|| format!("“{line}” is not one of the options."))
    };
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(option)
        .collect::<Result<Vec<_>, _>>()
        .map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::control_name::control_name;
    use serde_json::json;

    fn fields(schema: &Value) -> Vec<FormField> {
        schema_fields(schema, (ANSWER, control_name), "Answer")
    }

    fn typed(fields: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<> {
        let fields: Vec<(String, String)> = fields.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
        move |name| fields.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone())
    }

    fn trip() -> Value {
        json!({"type": "object", "required": ["region", "days"], "properties": {
            "region": {"type": "string", "title": "Region", "enum": ["emea", "apac"], "enumNames": ["Europe", "Asia"]},
            "days": {"type": "integer", "description": "Whole days."},
            "urgent": {"type": "boolean"},
            "from": {"type": "string", "format": "date"},
            "why": {"type": "string", "maxLength": 1000, "default": "as agreed"},
            "level": {"oneOf": [{"const": 1, "title": "Low"}, {"const": 2, "title": "High"}]},
            "stops": {"type": "array", "items": {"type": "string"}},
        }})
    }

    #[test]
    fn every_property_becomes_a_field_of_its_kind() {
        let form_fields = fields(&trip());
        let of = |key: &str| form_fields.iter().find(|form_field| form_field.key.as_deref() == Some(key)).unwrap();
        assert_eq!((of("region").label.as_str(), of("region").required), ("Region", true));
        let Control::Choice(options) = &of("region").control else { unreachable!() };
        assert_eq!(options[1..], [("emea".into(), "Europe".into()), ("apac".into(), "Asia".into())]);
        assert_eq!((&of("days").control, of("days").hint.as_str()), (&Control::Number, "Whole days."));
        let kinds = ["urgent", "from", "why", "stops"].map(|key| of(key).control.clone());
        assert_eq!(kinds, [Control::Boolean, Control::Date, Control::MultiLine, Control::Json]);
        assert_eq!((of("why").start.as_str(), of("urgent").label.as_str()), ("as agreed", "Urgent"));
    }

    #[test]
    fn what_was_typed_becomes_the_answer_and_what_was_left_out_is_left_out() {
        let all = typed(&[
            ("answer.region", "apac"),
            ("answer.days", " 3 "),
            ("answer.urgent", "false"),
            ("answer.level", "2"),
            ("answer.stops", "[\"Kyoto\"]"),
            ("answer.from", ""),
        ]);
        let expected = json!({"region": "apac", "days": 3, "urgent": false, "level": 2, "stops": ["Kyoto"]});
        assert_eq!(typed_value(&fields(&trip()), all), Ok(Some(expected)));
        let wrong =
            typed_value(&fields(&trip()), typed(&[("answer.days", "many"), ("answer.region", "mars")])).unwrap_err();
        let mut names: Vec<_> = wrong.iter().filter_map(|error| error.field.as_deref()).collect();
        names.sort_unstable();
        assert_eq!(names, ["answer.days", "answer.region"]);
    }

    #[test]
    fn an_answer_that_is_no_object_has_one_field_and_keeps_its_type() {
        let text = fields(&json!({"type": "string"}));
        assert_eq!(typed_value(&text, typed(&[("answer", "12")])), Ok(Some(json!("12"))));
        let number = fields(&json!({"type": "number"}));
        assert_eq!(typed_value(&number, typed(&[("answer", "1.5")])), Ok(Some(json!(1.5))));
        assert_eq!(typed_value(&number, typed(&[("answer", " ")])), Ok(None));
        let anything = fields(&json!({"anyOf": [{"type": "string"}, {"type": "null"}]}));
        assert_eq!(anything[0].control, Control::Json);
    }

    #[test]
    fn what_a_schema_says_never_becomes_markup() {
        let evil = "<img src=x>";
        let schema = fields(
            &json!({"properties": {evil: {"type": "string", "title": evil, "description": evil, "enum": [evil]}}}),
        );
        let html: String =
            render_fields("gate", &schema, &FormState::default()).into_iter().map(crate::render::to_html).collect();
        assert!(!html.contains("<img"), "{html}");
    }

    #[test]
    fn a_list_of_constants_takes_several_options() {
        let form_fields = fields(&json!({ "type": "object", "properties": {
            "colours": { "type": "array", "items": { "anyOf": [{ "const": "r", "title": "Red" }, { "const": "b", "title": "Blue" }] } },
        } }));
        let typed = |text: &'static str| typed_value(&form_fields, move |_| Some(text.to_owned()));
        assert_eq!(typed("Blue\r\nr\r\n"), Ok(Some(json!({ "colours": ["b", "r"] }))));
        assert_eq!(typed("Green").unwrap_err()[0].field.as_deref(), Some("answer.colours"));
    }
}
