//! Forms generated from a JSON Schema, and reading the text typed into them: answers to questions, and the input of a
//! task.
//!
//! An object gets one field per property, named `answer.KEY`; any other value gets one field named `answer`. Lists of
//! options are groups of check boxes, and lists of texts are typed one on each line. Other lists and nested objects are
//! typed as JSON. The answer is validated against
//! the schema when it is recorded, not here.
//!
//! What a field shows at the start reads as the value that it represents. A value that its control cannot hold is not
//! shown.

use super::{
    item_text::field_text,
    values::{Control, read_json, read_number},
};
use crate::{
    FieldError, FormState,
    render::static_html,
    text::label::slug_label,
    ui::field::{CheckBoxes, Field, Input, Select, TextArea},
};
use domain::{
    json_schema::{Ordinary, ordinary},
    limit::SELECT_OPTIONS_MAX,
    view::{OFFSETS, UTC, ZONE, join_instant, split_instant},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Most properties that get a field each; a value with more is typed as JSON.
const FIELDS_MAX: usize = 40;
/// Texts that may be longer than this get a text area, characters.
const LINE_CHARS_MAX: u64 = 200;
/// Most options that are check boxes. Options of a longer list are typed one on each line.
const BOXES_MAX: usize = SELECT_OPTIONS_MAX;
/// Name of the only field of an answer that is not an object.
pub const ANSWER: &str = "answer";

/// How a field of a generated form is typed.
#[derive(Debug, Clone, PartialEq)]
enum Typed {
    /// As a value of an inbox item.
    Value(Control),
    /// A list of texts, one on each line, or as JSON. Without options any text can be in it. An option is named by
    /// value or label.
    List,
    /// A list of options, each a check box. The texts of those that are ticked are the lines of its text.
    Boxes,
    /// A local date and time, with its offset in a second control.
    Instant,
}

/// One field of a generated form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Key of the property; absent if the field holds the whole value.
    key: Option<String>,
    /// Name of the form field.
    pub name: String,
    label: String,
    hint: String,
    /// Whether the control has to be filled in.
    required: bool,
    start: String,
    typed: Typed,
    /// The values of the options, in the order of the options.
    choices: Vec<Value>,
    /// Labels of the options.
    labels: Vec<String>,
    /// The value of the empty control; without it the value is left out.
    empty: Option<Value>,
}

/// The name of the field for a member of a value, of the name of the value's own field and the member's key.
pub type MemberName = fn(&str, &str) -> String;

/// The fields for a value of this schema. `base` is the name of the field for the whole value; `default_label` labels a
/// field without a title.
pub fn schema_fields(schema: &Value, (base, member): (&str, MemberName), default_label: &str) -> Vec<FormField> {
    let whole = ordinary(schema, schema).members;
    let of_whole = |of: &Value, label: String| vec![new_field((None, base.to_owned(), label), schema, of, true)];
    let Some(properties) = whole.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
        let title = text(schema, "title");
        return of_whole(schema, if title.is_empty() { default_label.to_owned() } else { title });
    };
    if properties.len() > FIELDS_MAX {
        return of_whole(&Value::Null, default_label.to_owned());
    }
    let required: Vec<&str> =
        whole.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let field = |(key, of): (&String, &Value)| {
        // The title of a definition tells none of the properties apart that refer to it.
        let title = text(of, "title");
        let label = if title.is_empty() { slug_label(key) } else { title };
        new_field((Some(key.clone()), member(base, key), label), schema, of, required.contains(&key.as_str()))
    };
    properties.iter().map(field).collect()
}

fn text(of: &Value, member: &str) -> String {
    of.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The field for a value of the schema `of`, which is in the document `root`.
fn new_field(
    (key, name, label): (Option<String>, String, String),
    root: &Value,
    of: &Value,
    is_required: bool,
) -> FormField {
    let Ordinary { members, is_nullable } = ordinary(root, of);
    let of = Value::Object(members);
    let (typed, choices, labels) = typed_as(root, &of);
    let mut hint = text(&of, "description");
    if typed == Typed::Value(Control::Json) {
        hint = format!("{hint} JSON.").trim_start().to_owned();
    }
    if typed == Typed::Boxes {
        hint = format!("{hint} {}", how_many(&of)).trim().to_owned();
    }
    if typed == Typed::List {
        let lines = match labels.is_empty() {
            true => "One on each line.".to_owned(),
            false => format!("Any of these, one on each line: {}.", labels.join(", ")),
        };
        hint = format!("{hint} {lines}").trim_start().to_owned();
    }
    let default = of.get("default");
    let empty = empty_value(&typed, &choices, default, is_required.then_some(is_nullable));
    let required = is_required && empty.is_none();
    let field = FormField { key, name, label, hint, required, start: String::new(), typed, choices, labels, empty };
    let start = default.and_then(|default| field.control_text(default)).unwrap_or_default();
    FormField { start, ..field }
}

/// How many options a list takes, in words; empty if it takes any number of them.
fn how_many(of: &Value) -> String {
    let bound = |name: &str| of.get(name).and_then(Value::as_u64);
    match (bound("minItems").filter(|least| *least > 0), bound("maxItems")) {
        (Some(least), Some(most)) if least == most => format!("Choose {least}."),
        (Some(least), Some(most)) => format!("Choose {least} to {most}."),
        (Some(least), None) => format!("Choose at least {least}."),
        (None, Some(most)) => format!("Choose at most {most}."),
        (None, None) => String::new(),
    }
}

/// The value of an empty control. `required` has, for a required value, whether it may be `null`.
fn empty_value(typed: &Typed, choices: &[Value], default: Option<&Value>, required: Option<bool>) -> Option<Value> {
    if let Some(blank) = choices.iter().find(|value| field_text(value).is_empty()) {
        return Some(blank.clone());
    }
    if *typed == Typed::Boxes {
        // No ticked box is a choice: of a list that has to be there, and of one whose default has options.
        let is_wanted = required == Some(false) || default.is_some_and(Value::is_array);
        return if required == Some(true) { Some(Value::Null) } else { is_wanted.then(|| Value::Array(Vec::new())) };
    }
    let is_text = matches!(typed, Typed::Value(Control::SingleLine | Control::MultiLine));
    let is_blank = |value: &&Value| match value {
        Value::String(text) => is_text && text.is_empty(),
        Value::Array(list) => *typed == Typed::List && list.is_empty(),
        _ => false,
    };
    match default.filter(is_blank) {
        Some(blank) => Some(blank.clone()),
        None if required == Some(true) => Some(Value::Null),
        None => None,
    }
}

/// A value as the text of a control. A list of texts has one on each line.
pub fn start_text(value: &Value) -> String {
    let lines: Option<Vec<&str>> =
        value.as_array().map(|list| list.iter().map(|one| one.as_str()).collect()).unwrap_or_default();
    lines.map_or_else(|| field_text(value), |lines| lines.join("\n"))
}

fn is_type(of: &Value, name: &str) -> bool {
    of.get("type").is_some_and(|known| known == name)
}

fn typed_as(root: &Value, of: &Value) -> (Typed, Vec<Value>, Vec<String>) {
    if let Some((values, labels)) = choices(of) {
        let mut options = vec![(String::new(), "—".to_owned())];
        options.extend(values.iter().map(field_text).zip(labels.iter().cloned()).filter(|(text, _)| !text.is_empty()));
        return (Typed::Value(Control::Choice(options)), values, labels);
    }
    if let Some(items) = of.get("items").filter(|_| is_type(of, "array")) {
        let items = Value::Object(ordinary(root, items).members);
        if let Some((values, labels)) = choices(&items) {
            let typed = if can_be_boxes(&values) { Typed::Boxes } else { Typed::List };
            return (typed, values, labels);
        }
        if is_type(&items, "string") {
            return (Typed::List, Vec::new(), Vec::new());
        }
    }
    let is_long = of.get("maxLength").and_then(Value::as_u64).is_some_and(|max| max > LINE_CHARS_MAX);
    let is_format = |name: &str| of.get("format").is_some_and(|format| format == name);
    let control = if is_type(of, "boolean") {
        Control::Boolean
    } else if is_type(of, "number") || is_type(of, "integer") {
        Control::Number
    } else if !is_type(of, "string") {
        Control::Json
    } else if is_format("date-time") {
        return (Typed::Instant, Vec::new(), Vec::new());
    } else if is_format("date") {
        Control::Date
    } else if is_long {
        Control::MultiLine
    } else {
        Control::SingleLine
    };
    (Typed::Value(control), Vec::new(), Vec::new())
}

/// Whether each option can be a line of the text of check boxes, and no text a list as JSON.
fn can_be_boxes(values: &[Value]) -> bool {
    let texts: BTreeSet<String> = values.iter().map(field_text).collect();
    let is_line = |text: &String| {
        !text.is_empty() && text.trim() == text && !text.contains(['\n', '\r']) && !text.starts_with('[')
    };
    (1..=BOXES_MAX).contains(&values.len()) && texts.len() == values.len() && texts.iter().all(is_line)
}

/// The values and labels of an enumeration: `enum` (with `enumNames`), a constant, or `oneOf` and `anyOf` of constants.
fn choices(of: &Value) -> Option<(Vec<Value>, Vec<String>)> {
    if let Some(value) = of.get("const").filter(|value| !value.is_null()) {
        return Some((vec![value.clone()], vec![field_text(value)]));
    }
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
    /// Sets the start value of the field from an earlier value. One that the control cannot hold is left out.
    pub fn starting_with(self, before: &Value) -> Self {
        let value = match &self.key {
            Some(key) => before.get(key),
            None => Some(before),
        };
        Self { start: value.and_then(|value| self.control_text(value)).unwrap_or_else(|| self.start.clone()), ..self }
    }

    /// The names and texts of its form fields for an earlier value. They are empty for one that it cannot hold.
    pub fn texts(&self, before: &Value) -> Vec<(String, String)> {
        let value = match &self.key {
            Some(key) => before.get(key),
            None => Some(before),
        };
        let shown = value.and_then(|value| self.control_text(value)).unwrap_or_default();
        match (&self.typed, split_instant(&shown)) {
            (Typed::Instant, Some((local, zone))) => vec![(self.name.clone(), local), (self.zone_name(), zone)],
            _ => vec![(self.name.clone(), shown)],
        }
    }

    /// The names of its form fields.
    pub fn names(&self) -> Vec<String> {
        match self.typed {
            Typed::Instant => vec![self.name.clone(), self.zone_name()],
            Typed::Value(_) | Typed::List | Typed::Boxes => vec![self.name.clone()],
        }
    }

    fn zone_name(&self) -> String {
        format!("{}.{ZONE}", self.name)
    }

    /// The text with which the control shows a value; `None` if no text reads as this value.
    fn control_text(&self, value: &Value) -> Option<String> {
        if *value == Value::Null || Some(value) == self.empty.as_ref() {
            return Some(String::new());
        }
        let json = || serde_json::to_string_pretty(value).unwrap_or_default();
        let texts = match self.typed {
            Typed::Value(Control::Json) => vec![json()],
            Typed::List => vec![start_text(value), json()],
            Typed::Boxes => {
                let ticked = value.as_array().into_iter().flatten().map(field_text);
                vec![ticked.collect::<Vec<_>>().join("\n")]
            }
            Typed::Value(_) | Typed::Instant => vec![start_text(value)],
        };
        texts.into_iter().find(|text| read(self, text, UTC).is_ok_and(|read| read.as_ref() == Some(value)))
    }
}

/// Renders the fields. `scope` is the prefix of their ids; `form` restores the typed text.
pub fn render_fields(scope: &str, form_fields: &[FormField], form: &FormState) -> Vec<InertElement> {
    form_fields.iter().map(|form_field| render_field(scope, form_field, form)).collect()
}

fn render_field(scope: &str, form_field: &FormField, form: &FormState) -> InertElement {
    let field = Field {
        name: &form_field.name,
        label: &form_field.label,
        hint: &form_field.hint,
        required: form_field.required,
    };
    let start = &form_field.start;
    let has_lines = form.value_or(&form_field.name, start).contains('\n');
    match &form_field.typed {
        Typed::Instant => render_instant(scope, form_field, field, form),
        Typed::Boxes => {
            // A form without a ticked box sends no such field.
            let typed = if form.values.is_empty() { start } else { form.value(field.name).unwrap_or_default() };
            let ticked: Vec<&str> = typed.lines().map(str::trim).collect();
            let options = form_field.choices.iter().zip(&form_field.labels).map(|(value, label)| {
                let text = field_text(value);
                let is_ticked = ticked.contains(&text.as_str());
                (text, label.clone(), is_ticked)
            });
            static_html(view! { <CheckBoxes scope=scope field=field options=options.collect() form=form/> })
        }
        // A one-line input would join the lines.
        Typed::Value(Control::SingleLine) if has_lines => {
            static_html(view! { <TextArea scope=scope field=field value=start form=form/> })
        }
        Typed::Value(Control::SingleLine | Control::Number) => {
            static_html(view! { <Input scope=scope field=field value=start form=form/> })
        }
        Typed::Value(Control::Date) => {
            static_html(view! { <Input scope=scope field=field kind="date" value=start form=form/> })
        }
        Typed::List | Typed::Value(Control::MultiLine) => {
            static_html(view! { <TextArea scope=scope field=field value=start form=form/> })
        }
        Typed::Value(Control::Json) => {
            static_html(view! { <TextArea scope=scope field=field json=true value=start form=form/> })
        }
        Typed::Value(Control::Choice(options)) => {
            static_html(view! { <Select scope=scope field=field options=options.clone() value=start form=form/> })
        }
        Typed::Value(Control::Boolean) => {
            let options = [("", "—"), ("true", "Yes"), ("false", "No")].map(|(v, l)| (v.to_owned(), l.to_owned()));
            static_html(view! { <Select scope=scope field=field options=options.into() value=start form=form/> })
        }
    }
}

/// A date and time with its offset. A text that is no instant is shown as it was typed.
fn render_instant(scope: &str, form_field: &FormField, field: Field<'_>, form: &FormState) -> InertElement {
    let zone = form_field.zone_name();
    let (local, offset) = split_instant(&form_field.start).unwrap_or_else(|| (String::new(), UTC.to_owned()));
    let typed = form.value_or(&form_field.name, &local);
    let is_time = typed.is_empty() || join_instant(&typed, UTC).is_some();
    let kind = if is_time { "datetime-local" } else { "text" };
    let label = format!("Time zone of: {}", form_field.label);
    let zone_field = Field::new(&zone, &label);
    let options = OFFSETS.map(|offset| (offset.to_owned(), format!("UTC{offset}").replace("UTC+00:00", "UTC")));
    let other = (!OFFSETS.contains(&offset.as_str())).then(|| (offset.clone(), format!("UTC{offset}")));
    let options: Vec<_> = options.into_iter().chain(other).collect();
    static_html(view! {
        <div class="instant">
            <Input scope=scope field=field kind=kind value=local form=form/>
            <Select scope=scope field=zone_field options=options value=offset form=form/>
        </div>
    })
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
        let zone = match form_field.typed {
            Typed::Instant => typed(&form_field.zone_name()),
            Typed::Value(_) | Typed::List | Typed::Boxes => None,
        };
        match read(form_field, text.trim_end_matches(['\r', '\n']), zone.as_deref().unwrap_or_default()) {
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

/// Reads the text typed into a field. `zone` is the offset of a time that has none.
fn read(form_field: &FormField, text: &str, zone: &str) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(form_field.empty.clone());
    }
    let value = match &form_field.typed {
        Typed::List | Typed::Boxes => list(form_field, text)?,
        Typed::Instant if split_instant(text.trim()).is_some() => Value::from(text.trim()),
        Typed::Instant => join_instant(text, zone).map(Value::from).ok_or("Enter a date and a time.")?,
        // Browsers send line ends as CR LF.
        Typed::Value(Control::SingleLine | Control::MultiLine | Control::Date) => {
            Value::from(text.replace("\r\n", "\n"))
        }
        Typed::Value(Control::Choice(_)) => {
            let chosen = form_field.choices.iter().find(|value| field_text(value) == text);
            chosen.cloned().ok_or("Choose one of the options.")?
        }
        Typed::Value(Control::Boolean) => text.parse().map(Value::Bool).map_err(|_| "Choose yes or no.")?,
        Typed::Value(Control::Number) => read_number(text)?,
        Typed::Value(Control::Json) => read_json(text)?,
    };
    Ok(Some(value))
}

/// The list that was typed: one text on each line, or a list of texts as JSON.
fn list(form_field: &FormField, text: &str) -> Result<Value, String> {
    if let Ok(list) = serde_json::from_str::<Vec<Value>>(text)
        && (!form_field.choices.is_empty() || list.iter().all(Value::is_string))
    {
        return Ok(Value::from(list));
    }
    let option = |line: &str| {
        if form_field.choices.is_empty() {
            return Ok(Value::from(line));
        }
        let mut options = form_field.choices.iter().zip(&form_field.labels);
        let is_value = |(value, _): &(&Value, &String)| field_text(value) == line;
        // One option can have the value of another as its label.
        let found = options.clone().find(is_value).or_else(|| options.find(|(_, label)| label.as_str() == line));
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
#[path = "question_tests.rs"]
mod tests;
