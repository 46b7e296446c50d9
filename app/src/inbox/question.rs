//! Forms generated from a JSON Schema, and reading what was typed into them: answers to questions, and the input of a
//! task. A question with a form of its own has the controls of that form.
//!
//! For a schema, an object gets one field per property, named `answer.KEY`; any other value gets one field named `answer`. Lists
//! and nested objects are typed as JSON. The answer is validated against the schema when it is recorded, not here.

use super::{
    control_name::control_name,
    item_text::{field_text, task},
    values::Control,
};
use crate::{
    FieldError, FormState,
    form_page::{EntityOptions, control_id, questions},
    render::static_html,
    text::label::slug_label,
    ui::field::{Field, Input, Select, TextArea},
};
use domain::{
    gate::Task,
    issue::Issue,
    view::{self, Answers, Kind, defaults, from_form},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::{Map, Value};
use wire::approval::Approval;

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

/// How a question is answered.
pub enum AnswerForm {
    /// Text.
    Free,
    /// One field for each property of the answer's schema, or one for the whole.
    Schema(Vec<FormField>),
    /// The questions of a form.
    Questions(Vec<view::Field>),
}

impl AnswerForm {
    /// The form of an item; `Free` for an item that is no question.
    pub fn of(approval: &Approval) -> Self {
        let Some(Task::Question(question)) = task(approval) else { return Self::Free };
        if !question.fields.is_empty() {
            return Self::Questions(question.fields);
        }
        question.schema.map_or(Self::Free, |schema| {
            Self::Schema(schema_fields(&schema, (ANSWER, control_name), "Answer"))
        })
    }

    /// Id of its first control, below the prefix `gate` of the item's own controls.
    pub fn first_control(&self) -> String {
        let first = self.names().into_iter().next().unwrap_or_else(|| ANSWER.to_owned());
        match self {
            Self::Questions(_) => control_id(&first),
            _ => format!("gate-{first}"),
        }
    }

    /// The names of its controls, in their order.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Free => vec![ANSWER.to_owned()],
            Self::Schema(form_fields) => form_fields.iter().map(|form_field| form_field.name.clone()).collect(),
            Self::Questions(fields) => controls(fields).into_iter().map(|(name, _)| name).collect(),
        }
    }
}

/// The prefix of the names of a form's controls.
const ANSWER_PREFIX: &str = "answer.";

/// The names of the controls of a form's questions, each with whether it can be sent several times.
fn controls(fields: &[view::Field]) -> Vec<(String, bool)> {
    let of = |field: &view::Field| {
        let name = format!("{ANSWER_PREFIX}{}", field.key);
        match &field.kind {
            Kind::Rating { dimensions, .. } => {
                dimensions.iter().map(|dimension| (format!("{name}.{}", dimension.slug), false)).collect()
            }
            kind => vec![(name, matches!(kind, Kind::MultipleChoice { .. }))],
        }
    };
    fields.iter().filter(|field| !field.hidden).flat_map(of).collect()
}

/// What was typed into the questions of a form. Of a control that can be sent several times, `typed` returns the values
/// as lines.
pub fn typed_answers(fields: &[view::Field], typed: impl Fn(&str) -> Option<String>) -> Answers {
    let mut pairs = Vec::new();
    for (name, is_several) in controls(fields) {
        let Some(text) = typed(&name) else { continue };
        let key = name.strip_prefix(ANSWER_PREFIX).unwrap_or_default().to_owned();
        match is_several {
            true => pairs.extend(text.lines().map(|line| (key.clone(), line.to_owned()))),
            false => pairs.push((key, text)),
        }
    }
    from_form(fields, pairs.iter().map(|(key, text)| (key.as_str(), text.as_str())))
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
        match &form_field.control {
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

/// Renders the questions of a form. `form` restores what was typed and has its errors.
pub fn render_questions(fields: &[view::Field], form: &FormState, entities: &EntityOptions) -> InertElement {
    let answers = match form.values.is_empty() {
        true => defaults(fields),
        false => typed_answers(fields, |name| form.value(name).map(str::to_owned)),
    };
    let issue = |error: &FieldError| {
        let key = error.field.as_deref()?.strip_prefix(ANSWER_PREFIX)?;
        Some(Issue::new(key, error.message.clone()))
    };
    let issues: Vec<_> = form.errors.iter().filter_map(issue).collect();
    questions(ANSWER_PREFIX, fields, &answers, &issues, entities)
}

/// The answer that was typed, as JSON; `None` if every field is empty. `typed` returns the text of a form field, or
/// `None` if the field was not sent.
///
/// # Errors
/// One error for each field whose text cannot be parsed, with the name of the field.
pub fn typed_answer(
    approval: &Approval,
    typed: impl Fn(&str) -> Option<String>,
) -> Result<Option<Value>, Vec<FieldError>> {
    match AnswerForm::of(approval) {
        AnswerForm::Free => Ok(None),
        AnswerForm::Schema(form_fields) => typed_value(&form_fields, typed),
        AnswerForm::Questions(fields) => Ok(Some(Value::Object(typed_answers(&fields, typed)))),
    }
}

/// Like [`typed_answer`], for any fields.
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
    use crate::inbox::fixture::{question, raw};
    use serde_json::json;

    fn asked(schema: Value) -> Approval {
        let mut item = question(1);
        item.task = raw(&json!({"kind": "question", "question": {"message": "Which?", "schema": schema}}));
        item
    }

    fn schema_of(approval: &Approval) -> Vec<FormField> {
        match AnswerForm::of(approval) {
            AnswerForm::Schema(form_fields) => form_fields,
            _ => panic!("the question has no schema"),
        }
    }

    fn typed(fields: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<> {
        let fields: Vec<(String, String)> = fields.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
        move |name| fields.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone())
    }

    fn trip() -> Approval {
        asked(json!({"type": "object", "required": ["region", "days"], "properties": {
            "region": {"type": "string", "title": "Region", "enum": ["emea", "apac"], "enumNames": ["Europe", "Asia"]},
            "days": {"type": "integer", "description": "Whole days."},
            "urgent": {"type": "boolean"},
            "from": {"type": "string", "format": "date"},
            "why": {"type": "string", "maxLength": 1000, "default": "as agreed"},
            "level": {"oneOf": [{"const": 1, "title": "Low"}, {"const": 2, "title": "High"}]},
            "stops": {"type": "array", "items": {"type": "string"}},
        }}))
    }

    #[test]
    fn every_property_becomes_a_field_of_its_kind() {
        let form_fields = schema_of(&trip());
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
        assert_eq!(typed_answer(&trip(), all), Ok(Some(expected)));
        let wrong = typed_answer(&trip(), typed(&[("answer.days", "many"), ("answer.region", "mars")])).unwrap_err();
        let mut names: Vec<_> = wrong.iter().filter_map(|error| error.field.as_deref()).collect();
        names.sort_unstable();
        assert_eq!(names, ["answer.days", "answer.region"]);
    }

    #[test]
    fn an_answer_that_is_no_object_has_one_field_and_keeps_its_type() {
        let text = asked(json!({"type": "string"}));
        assert_eq!(typed_answer(&text, typed(&[("answer", "12")])), Ok(Some(json!("12"))));
        let number = asked(json!({"type": "number"}));
        assert_eq!(typed_answer(&number, typed(&[("answer", "1.5")])), Ok(Some(json!(1.5))));
        assert_eq!(typed_answer(&number, typed(&[("answer", " ")])), Ok(None));
        let anything = asked(json!({"anyOf": [{"type": "string"}, {"type": "null"}]}));
        assert_eq!(schema_of(&anything)[0].control, Control::Json);
        assert!(matches!(AnswerForm::of(&question(1)), AnswerForm::Free));
    }

    #[test]
    fn what_a_schema_says_never_becomes_markup() {
        let evil = "<img src=x>";
        let item = asked(
            json!({"properties": {evil: {"type": "string", "title": evil, "description": evil, "enum": [evil]}}}),
        );
        let html: String = render_fields("gate", &schema_of(&item), &FormState::default())
            .into_iter()
            .map(crate::render::to_html)
            .collect();
        assert!(!html.contains("<img"), "{html}");
    }

    fn form() -> Approval {
        let fields = json!([
            { "key": "zone", "label": "Zone", "type": "short_text" },
            { "key": "colours", "label": "Colours", "type": "multiple_choice", "options": ["r", "b"] },
            { "key": "days", "label": "Days", "type": "integer" },
            { "key": "quality", "label": "Quality", "type": "rating", "criteriaSet": "quality", "dimensions": [
                { "slug": "tone", "name": "Tone", "type": "scale", "min": 1, "max": 5 },
            ] },
            { "key": "source", "label": "Source", "type": "short_text", "hidden": true },
        ]);
        let mut item = question(1);
        item.task = raw(&json!({"kind": "question", "question": {"message": "?", "fields": fields}}));
        item
    }

    #[test]
    fn the_controls_of_a_form_are_named_in_the_order_of_its_questions() {
        let names = AnswerForm::of(&form()).names();
        assert_eq!(names, ["answer.zone", "answer.colours", "answer.days", "answer.quality.tone"]);
        assert_eq!(AnswerForm::of(&form()).first_control(), "f-answer-zone");
    }

    #[test]
    fn answers_to_a_form_have_the_types_of_its_questions() {
        let text = |name: &str| match name {
            "answer.zone" => Some("EU".to_owned()),
            "answer.colours" => Some("b\r\nr".to_owned()),
            "answer.days" => Some("many".to_owned()),
            "answer.quality.tone" => Some("4".to_owned()),
            "answer.source" => Some("not asked".to_owned()),
            _ => None,
        };
        let expected = json!({ "zone": "EU", "colours": ["b", "r"], "days": "many", "quality": { "tone": 4 } });
        assert_eq!(typed_answer(&form(), text), Ok(Some(expected)), "what is wrong stays as typed, to be refused");
    }

    #[test]
    fn a_list_of_constants_takes_several_options() {
        let item = asked(json!({ "type": "object", "properties": {
            "colours": { "type": "array", "items": { "anyOf": [{ "const": "r", "title": "Red" }, { "const": "b", "title": "Blue" }] } },
        } }));
        let typed = |text: &'static str| typed_answer(&item, move |_| Some(text.to_owned()));
        assert_eq!(typed("Blue\r\nr\r\n"), Ok(Some(json!({ "colours": ["b", "r"] }))));
        assert_eq!(typed("Green").unwrap_err()[0].field.as_deref(), Some("answer.colours"));
    }
}
