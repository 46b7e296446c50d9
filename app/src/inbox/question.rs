//! Forms generated from a JSON Schema, and reading what was typed into them: answers to questions, and the input of a
//! task.
//!
//! An object gets one field per property, named `answer.KEY`; any other value gets one field named `answer`. Lists of
//! texts are typed one on each line. Other lists and nested objects are typed as JSON. The answer is validated against
//! the schema when it is recorded, not here.
//!
//! What a field shows at the start reads as the value that it stands for. A value that its control cannot hold is not
//! shown.

use super::{
    item_text::field_text,
    values::{Control, read_json, read_number},
};
use crate::{
    FieldError, FormState,
    render::static_html,
    text::label::slug_label,
    ui::field::{Field, Input, Select, TextArea},
};
use domain::{
    json_schema::{Ordinary, ordinary},
    view::{OFFSETS, UTC, ZONE, join_instant, split_instant},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::{Map, Value};

/// Most properties that get a field each; a value with more is typed as JSON.
const FIELDS_MAX: usize = 40;
/// Texts that may be longer than this get a text area, characters.
const LINE_CHARS_MAX: u64 = 200;
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
    /// What the empty control stands for; without it the value is left out.
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
    let start = default.and_then(|default| field.shown(default)).unwrap_or_default();
    FormField { start, ..field }
}

/// What an empty control stands for. `required` has, for a required value, whether it may be `null`.
fn empty_value(typed: &Typed, choices: &[Value], default: Option<&Value>, required: Option<bool>) -> Option<Value> {
    if let Some(blank) = choices.iter().find(|value| field_text(value).is_empty()) {
        return Some(blank.clone());
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
            return (Typed::List, values, labels);
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
        Self { start: value.and_then(|value| self.shown(value)).unwrap_or_else(|| self.start.clone()), ..self }
    }

    /// The names and texts of its form fields for an earlier value. They are empty for one that it cannot hold.
    pub fn texts(&self, before: &Value) -> Vec<(String, String)> {
        let value = match &self.key {
            Some(key) => before.get(key),
            None => Some(before),
        };
        let shown = value.and_then(|value| self.shown(value)).unwrap_or_default();
        match (&self.typed, split_instant(&shown)) {
            (Typed::Instant, Some((local, zone))) => vec![(self.name.clone(), local), (self.zone_name(), zone)],
            _ => vec![(self.name.clone(), shown)],
        }
    }

    /// The names of its form fields.
    pub fn names(&self) -> Vec<String> {
        match self.typed {
            Typed::Instant => vec![self.name.clone(), self.zone_name()],
            Typed::Value(_) | Typed::List => vec![self.name.clone()],
        }
    }

    fn zone_name(&self) -> String {
        format!("{}.{ZONE}", self.name)
    }

    /// The text with which the control shows a value; `None` if no text reads as this value.
    fn shown(&self, value: &Value) -> Option<String> {
        if *value == Value::Null || Some(value) == self.empty.as_ref() {
            return Some(String::new());
        }
        let json = || serde_json::to_string_pretty(value).unwrap_or_default();
        let texts = match self.typed {
            Typed::Value(Control::Json) => vec![json()],
            Typed::List => vec![start_text(value), json()],
            Typed::Value(_) | Typed::Instant => vec![start_text(value)],
        };
        texts.into_iter().find(|text| read(self, text, UTC).is_ok_and(|read| read.as_ref() == Some(value)))
    }
}

/// Renders the fields. `scope` is the prefix of their ids; `form` restores what was typed.
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
            Typed::Value(_) | Typed::List => None,
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

/// Reads what was typed into a field. `zone` is the offset of a time that has none.
fn read(form_field: &FormField, text: &str, zone: &str) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(form_field.empty.clone());
    }
    let value = match &form_field.typed {
        Typed::List => list(form_field, text)?,
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
            "when": {"type": "string", "format": "date-time"},
        }})
    }

    #[test]
    fn every_property_becomes_a_field_of_its_kind() {
        let form_fields = fields(&trip());
        let of = |key: &str| form_fields.iter().find(|form_field| form_field.key.as_deref() == Some(key)).unwrap();
        assert_eq!((of("region").label.as_str(), of("region").required), ("Region", true));
        let Typed::Value(Control::Choice(options)) = &of("region").typed else { unreachable!() };
        assert_eq!(options[1..], [("emea".into(), "Europe".into()), ("apac".into(), "Asia".into())]);
        assert_eq!((&of("days").typed, of("days").hint.as_str()), (&Typed::Value(Control::Number), "Whole days."));
        let kinds = ["urgent", "from", "why", "when"].map(|key| of(key).typed.clone());
        let of_values = [Control::Boolean, Control::Date, Control::MultiLine].map(Typed::Value);
        assert_eq!((&kinds[..3], &kinds[3]), (&of_values[..], &Typed::Instant));
        assert_eq!((&of("stops").typed, of("stops").hint.as_str()), (&Typed::List, "One on each line."));
        assert_eq!((of("why").start.as_str(), of("urgent").label.as_str()), ("as agreed", "Urgent"));
    }

    #[test]
    fn what_was_typed_becomes_the_answer_and_what_was_left_out_is_left_out() {
        let all = typed(&[
            ("answer.region", "apac"),
            ("answer.days", " 3 "),
            ("answer.urgent", "false"),
            ("answer.level", "2"),
            ("answer.stops", "Kyoto\r\n Nara \r\n"),
            ("answer.from", ""),
            ("answer.why", "one\r\ntwo"),
            ("answer.when", "2026-03-01T09:30"),
            ("answer.when.zone", "+02:00"),
        ]);
        let expected = json!({
            "region": "apac", "days": 3, "urgent": false, "level": 2, "stops": ["Kyoto", "Nara"],
            "why": "one\ntwo", "when": "2026-03-01T09:30:00+02:00",
        });
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
        assert_eq!(typed_value(&number, typed(&[("answer", "1,5")])), Ok(Some(json!(1.5))));
        let unclear = typed_value(&number, typed(&[("answer", "1,500")])).unwrap_err();
        assert_eq!(unclear[0].message, "Enter 1500 or 1.500; 1,500 can mean either.");
        assert_eq!(typed_value(&number, typed(&[("answer", " ")])), Ok(None));
        let anything = fields(&json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}));
        assert_eq!(anything[0].typed, Typed::Value(Control::Json));
        let wrong = typed_value(&anything, typed(&[("answer", "{\n]")])).unwrap_err();
        assert_eq!(wrong[0].message, "This is not valid JSON (line 2).");
    }

    /// The value of a form that is sent as it is shown.
    fn untouched(form_fields: &[FormField]) -> Result<Option<Value>, Vec<FieldError>> {
        let starts: Vec<(String, String)> = form_fields
            .iter()
            .flat_map(|field| match field.typed {
                Typed::Instant => {
                    let (local, zone) = split_instant(&field.start).unwrap_or_default();
                    vec![(field.name.clone(), local), (field.zone_name(), zone)]
                }
                Typed::Value(_) | Typed::List => vec![(field.name.clone(), field.start.replace('\n', "\r\n"))],
            })
            .collect();
        typed_value(form_fields, |name| starts.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone()))
    }

    #[test]
    fn a_form_that_is_sent_as_it_is_shown_has_the_defaults() {
        let level = json!({"title": "Level", "enum": ["low", "high"], "type": "string"});
        for (property, typed) in [
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": "hello"}), "text"),
            (json!({"$ref": "#/$defs/Level", "default": "low"}), "choice"),
            (json!({"allOf": [{"$ref": "#/$defs/Level"}], "default": "high"}), "choice"),
            (json!({"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}], "default": "high"}), "choice"),
            (json!({"const": "fast", "default": "fast"}), "choice"),
            (json!({"type": "array", "items": {"type": "string"}, "default": ["a", "b"]}), "list"),
            (json!({"type": "array", "items": {"type": "string"}, "default": []}), "list"),
            (json!({"type": "array", "items": {"type": "string"}, "default": ["one\ntwo", " b "]}), "list"),
            (json!({"type": "array", "items": {"type": "string"}, "default": ["[\"a\"]"]}), "list"),
            (json!({"type": "array", "items": {"$ref": "#/$defs/Level"}, "default": ["high"]}), "list"),
            (json!({"type": "array", "items": {"type": "integer"}, "default": [1, 2]}), "json"),
            (json!({"type": ["integer", "null"], "default": 3}), "number"),
            (json!({"type": "number", "default": 0.5}), "number"),
            (json!({"type": "boolean", "default": false}), "boolean"),
            (json!({"enum": [0, 1, "1"], "default": 0}), "choice"),
            (json!({"enum": ["", "x"], "default": ""}), "choice"),
            (json!({"default": "hello"}), "json"),
            (json!({"default": "12"}), "json"),
            (json!({"type": "object", "default": {"a": [null]}}), "json"),
            (json!({"type": "string", "default": "a\nb"}), "text"),
            (json!({"type": "string", "default": ""}), "text"),
            (json!({"type": "string", "format": "date", "default": "2026-03-01"}), "date"),
            (json!({"type": "string", "format": "date-time", "default": "2026-03-01T09:30:00+05:45"}), "instant"),
        ] {
            let schema = json!({"type": "object", "$defs": {"Level": level}, "properties": {"a": property}});
            let form_fields = fields(&schema);
            let kind = match &form_fields[0].typed {
                Typed::List => "list",
                Typed::Instant => "instant",
                Typed::Value(Control::SingleLine | Control::MultiLine) => "text",
                Typed::Value(Control::Choice(_)) => "choice",
                Typed::Value(Control::Number) => "number",
                Typed::Value(Control::Boolean) => "boolean",
                Typed::Value(Control::Date) => "date",
                Typed::Value(Control::Json) => "json",
            };
            assert_eq!(kind, typed, "{property}");
            assert_eq!(untouched(&form_fields), Ok(Some(json!({"a": property["default"]}))), "{property}");
            let whole = fields(&json!({"$defs": {"Level": level}, "allOf": [property]}));
            assert_eq!(untouched(&whole), Ok(Some(property["default"].clone())), "{property} as the whole");
        }
    }

    #[test]
    fn a_value_that_its_control_cannot_hold_is_not_shown() {
        for property in [
            json!({"type": "integer", "default": "soon"}),
            json!({"type": "boolean", "default": "yes"}),
            json!({"enum": ["a"], "default": "b"}),
            json!({"type": "string", "default": 5}),
            json!({"type": "string", "format": "date-time", "default": "tomorrow"}),
            json!({"type": "array", "items": {"enum": ["a"]}, "default": "a"}),
        ] {
            let form_fields = fields(&json!({"properties": {"a": property}}));
            assert_eq!(form_fields[0].start, "", "{property}");
            assert_eq!(untouched(&form_fields), Ok(Some(json!({}))), "{property}");
        }
        let number = fields(&json!({"properties": {"a": {"type": "integer", "default": 7}}}));
        let again = number.into_iter().map(|field| field.starting_with(&json!({"a": {"b": 1}}))).collect::<Vec<_>>();
        assert_eq!(again[0].start, "7", "an earlier value of another type leaves the default");
    }

    #[test]
    fn a_required_value_that_may_be_null_is_null_if_nothing_is_typed() {
        let schema = json!({"required": ["a", "b", "c"], "properties": {
            "a": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "b": {"type": "array", "items": {"type": "string"}, "default": []},
            "c": {"type": "string"},
        }});
        let form_fields = fields(&schema);
        assert_eq!(form_fields.iter().map(|field| field.required).collect::<Vec<_>>(), [false, false, true]);
        let answer = typed_value(&form_fields, typed(&[("answer.c", "x")]));
        assert_eq!(answer, Ok(Some(json!({"a": null, "b": [], "c": "x"}))));
    }

    #[test]
    fn properties_that_refer_to_one_definition_have_labels_of_their_own() {
        let schema = json!({"$defs": {"Level": {"title": "Level", "enum": ["low", "high"]}}, "properties": {
            "first": {"$ref": "#/$defs/Level"}, "second": {"$ref": "#/$defs/Level", "title": "Then"},
        }});
        let labels: Vec<_> = fields(&schema).into_iter().map(|field| field.label).collect();
        assert_eq!(labels, ["First", "Then"]);
    }

    #[test]
    fn a_time_is_typed_with_its_offset_and_shown_again_as_typed() {
        let form_fields = fields(&json!({"properties": {"at": {"type": "string", "format": "date-time"}}}));
        let html = |form: &FormState| -> String {
            render_fields("gate", &form_fields, form).into_iter().map(crate::render::to_html).collect()
        };
        let fresh = html(&FormState::default());
        assert!(fresh.contains("type=\"datetime-local\"") && fresh.contains("name=\"answer.at.zone\""), "{fresh}");
        assert!(fresh.split("value=\"+00:00\"").nth(1).unwrap().starts_with(" selected>UTC<"), "{fresh}");
        let values = [("answer.at", "soon"), ("answer.at.zone", "+05:45")].map(|(n, t)| (n.to_owned(), t.to_owned()));
        let again = html(&FormState { values: values.into(), ..FormState::default() });
        assert!(again.contains("value=\"soon\"") && !again.contains("datetime-local"), "{again}");
        assert!(again.split("value=\"+05:45\"").nth(1).unwrap().starts_with(" selected"), "{again}");
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
