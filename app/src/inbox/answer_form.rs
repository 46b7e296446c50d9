//! The answer to a question: free text, a value of a schema, or the questions of a form. A form has the controls and
//! the rules of its own page.

use super::{api, item_text::task};
use crate::{
    FieldError, FormState,
    form_page::{EntityOptions, control_id, questions},
    render::static_html,
    schema_form::{Place, shown_fields},
    ui::field::{Field as Labelled, TextArea},
};
use domain::{
    gate::Task,
    issue::Issue,
    schema_form::{Fields, Form, Node, NodeKind, begin, draw, read},
    view::{Answers, Field, Kind, ZONE, defaults, from_form},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;
use wire::approval::Approval;

/// Name of the only field of an answer that has no parts, and begin of the names of other fields.
pub const ANSWER: &str = "answer";

/// How a question is answered.
pub enum AnswerForm {
    /// Text.
    Free,
    /// The fields of a JSON Schema.
    Schema(Value),
    /// The questions of a form.
    Questions(Vec<Field>),
}

impl AnswerForm {
    /// The form of an item; `Free` for an item that is no question.
    pub fn of(approval: &Approval) -> Self {
        let Some(Task::Question(question)) = task(approval) else { return Self::Free };
        if !question.fields.is_empty() {
            return Self::Questions(question.fields);
        }
        question.schema.map_or(Self::Free, Self::Schema)
    }

    /// Whether it can be filled in without its item: no question offers entities, and none depends on the answer to
    /// another one.
    pub fn has_independent_fields(&self) -> bool {
        let is_independent = |field: &Field| field.show_if.is_none() && !matches!(field.kind, Kind::Entity { .. });
        match self {
            Self::Free | Self::Schema(_) => true,
            Self::Questions(fields) => fields.iter().all(is_independent),
        }
    }

    /// Id of its first control, below the prefix `gate` of the item's own controls.
    pub fn first_control(&self) -> String {
        match self {
            Self::Free => format!("{SCOPE}-{ANSWER}"),
            Self::Schema(schema) => {
                let form = Form::new(schema, ANSWER);
                format!("{SCOPE}-{}", first_name(&draw(form, &begin(form))))
            }
            Self::Questions(fields) => {
                let first = question_names(fields).into_iter().next();
                control_id(&first.unwrap_or_else(|| ANSWER.to_owned()))
            }
        }
    }
}

/// Prefix of the ids of an item's own controls.
const SCOPE: &str = "gate";

/// The name of the first control of a form, or of the first group if it begins with an empty one.
fn first_name(node: &Node) -> &str {
    match &node.kind {
        NodeKind::Object { members, .. } => {
            let first = members.iter().find(|member| !matches!(member.kind, NodeKind::Const(_)));
            first.map_or(&node.name, first_name)
        }
        _ => &node.name,
    }
}

/// The names of the controls of a form's questions, in their order.
pub fn question_names(fields: &[Field]) -> Vec<String> {
    controls(fields).into_iter().map(|(name, _)| name).collect()
}

/// The controls of an answer form.
pub struct Controls {
    /// The controls.
    pub html: Vec<InertElement>,
    /// Their names, at which messages are shown.
    pub names: Vec<String>,
    /// Whether a text file can be chosen.
    pub takes_files: bool,
}

/// The prefix of the names of a form's controls.
const ANSWER_PREFIX: &str = "answer.";

/// The names of the controls of a form's questions, each with whether it can be sent several times.
fn controls(fields: &[Field]) -> Vec<(String, bool)> {
    let of = |field: &Field| {
        let name = format!("{ANSWER_PREFIX}{}", field.key);
        match field.kind.dimensions() {
            Some(dimensions) => {
                dimensions.iter().map(|dimension| (format!("{name}.{}", dimension.slug), false)).collect()
            }
            None if field.kind == Kind::DateTime => vec![(name.clone(), false), (format!("{name}.{ZONE}"), false)],
            None => vec![(name, matches!(field.kind, Kind::MultipleChoice { .. }))],
        }
    };
    fields.iter().filter(|field| !field.hidden).flat_map(of).collect()
}

/// The text typed into the questions of a form. Of a control that can be sent several times, `typed` returns the values
/// as lines.
pub fn typed_answers(fields: &[Field], typed: impl Fn(&str) -> Option<String>) -> Answers {
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

/// What an answer in free text does.
const HINT: &str = "The agent continues with your answer.";

/// Renders the controls of an answer form, which is sent to `target`. `form` restores the typed text and has its
/// errors; `styles` is the address of the styles of groups and rows.
pub fn answer_controls(
    answer_form: &AnswerForm,
    form: &FormState,
    (target, styles): (&str, &str),
    entities: &EntityOptions,
) -> Controls {
    match answer_form {
        AnswerForm::Free => {
            let field = Labelled::new(ANSWER, "Answer").hint(HINT).required();
            let html = static_html(view! { <TextArea scope=SCOPE field=field form=form/> });
            Controls { html: vec![html], names: vec![ANSWER.to_owned()], takes_files: false }
        }
        AnswerForm::Schema(schema) => {
            let own = Form::new(schema, ANSWER);
            let place = Place {
                scope: SCOPE,
                label: "Answer",
                target,
                nothing: "This question asks for no values.",
                keeps_rows: false,
            };
            let drawn = shown_fields(place, own, form, || begin(own));
            let names = drawn.names.into_iter().collect();
            let link = (drawn.has_parts && !styles.is_empty())
                .then(|| static_html(view! { <link rel="stylesheet" href=styles.to_owned()/> }));
            Controls { html: link.into_iter().chain([drawn.html]).collect(), names, takes_files: drawn.takes_files }
        }
        AnswerForm::Questions(fields) => {
            let html = vec![render_questions(fields, form, entities)];
            Controls { html, names: question_names(fields), takes_files: false }
        }
    }
}

/// The texts of the controls of an answer among the fields that were sent.
pub fn answer_texts(sent: &api::Fields) -> Fields {
    let texts: Vec<(&str, String)> = sent.iter().map(|(name, typed)| (name.as_str(), typed.text())).collect();
    Fields::sent(ANSWER, texts.iter().map(|(name, text)| (*name, text.as_str())))
}

/// Renders the questions of a form. `form` restores the typed text and has its errors.
fn render_questions(fields: &[Field], form: &FormState, entities: &EntityOptions) -> InertElement {
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

/// The answer that was typed, as JSON; `None` if every field is empty. An answer in free text has no value here.
///
/// # Errors
/// One issue for each field whose text cannot be parsed, with the name of the field.
pub fn typed_answer(approval: &Approval, sent: &api::Fields) -> Result<Option<Value>, Vec<Issue>> {
    match AnswerForm::of(approval) {
        AnswerForm::Free => Ok(None),
        AnswerForm::Schema(schema) => read(Form::new(&schema, ANSWER), &answer_texts(sent)),
        AnswerForm::Questions(fields) => {
            let typed = |name: &str| sent.get(name).map(api::Typed::text);
            Ok(Some(Value::Object(typed_answers(&fields, typed))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{question, raw};
    use serde_json::json;

    #[test]
    fn a_question_without_schema_and_form_is_answered_with_text() {
        assert!(matches!(AnswerForm::of(&question(1)), AnswerForm::Free));
    }

    fn form() -> Approval {
        let fields = json!([
            { "key": "zone", "label": "Zone", "type": "short_text" },
            { "key": "colours", "label": "Colours", "type": "multiple_choice", "options": ["r", "b"] },
            { "key": "days", "label": "Days", "type": "integer" },
            { "key": "quality", "label": "Quality", "type": "rating", "criteriaSet": "quality", "dimensions": [
                { "slug": "tone", "name": "Tone", "type": "scale", "min": 1, "max": 5 },
            ] },
            { "key": "when", "label": "When", "type": "date_time" },
            { "key": "source", "label": "Source", "type": "short_text", "hidden": true },
        ]);
        let mut item = question(1);
        item.task = raw(&json!({"kind": "question", "question": {"message": "?", "fields": fields}}));
        item
    }

    #[test]
    fn the_controls_of_a_form_are_named_in_the_order_of_its_questions() {
        let AnswerForm::Questions(fields) = AnswerForm::of(&form()) else { unreachable!() };
        assert_eq!(
            question_names(&fields),
            ["answer.zone", "answer.colours", "answer.days", "answer.quality.tone", "answer.when", "answer.when.zone"]
        );
        assert_eq!(AnswerForm::of(&form()).first_control(), "f-answer-zone");
    }

    #[test]
    fn answers_to_a_form_have_the_types_of_its_questions() {
        let sent = sent(&[
            ("answer.zone", "EU"),
            ("answer.colours", "b\r\nr"),
            ("answer.days", "many"),
            ("answer.quality.tone", "4"),
            ("answer.when", "2026-03-01T09:30"),
            ("answer.when.zone", "+02:00"),
            ("answer.source", "not asked"),
        ]);
        let expected = json!({
            "zone": "EU", "colours": ["b", "r"], "days": "many", "quality": { "tone": 4 },
            "when": "2026-03-01T09:30:00+02:00",
        });
        assert_eq!(typed_answer(&form(), &sent), Ok(Some(expected)), "what is wrong stays as typed, to be refused");
    }

    fn sent(texts: &[(&str, &str)]) -> api::Fields {
        texts.iter().map(|(name, text)| ((*name).to_owned(), api::Typed::Once((*text).to_owned()))).collect()
    }

    fn question_of(schema: &Value) -> Approval {
        let mut item = question(1);
        item.task = raw(&json!({"kind": "question", "question": {"message": "?", "schema": schema}}));
        item
    }

    fn html(schema: &Value, values: &[(&str, &str)]) -> String {
        let values = values.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let form = FormState { values, ..FormState::default() };
        let answer_form = AnswerForm::of(&question_of(schema));
        let around = ("/fn/inbox/decide", "/pages.css");
        let controls = answer_controls(&answer_form, &form, around, &EntityOptions::new());
        controls.html.into_iter().map(crate::render::to_html).collect()
    }

    fn trip() -> Value {
        let stop = json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"}, "nights": {"type": "integer"},
        }});
        json!({"type": "object", "required": ["days"], "properties": {
            "days": {"type": "integer"}, "stops": {"type": "array", "items": stop},
        }})
    }

    #[test]
    fn an_answer_has_rows_that_buttons_add_and_remove() {
        let fresh = html(&trip(), &[]);
        assert!(fresh.contains("id=\"gate-answer.days\"") && fresh.contains("value=\"add:answer.stops\""), "{fresh}");
        assert!(!fresh.contains("answer.stops.0"), "{fresh}");
        assert_eq!(AnswerForm::of(&question_of(&trip())).first_control(), "gate-answer.days");
        let added = html(&trip(), &[("answer.days", "3"), ("step", "add:answer.stops")]);
        assert!(added.contains("name=\"answer.stops.0.city\"") && added.contains("value=\"3\""), "{added}");
        let rows = [
            ("answer.days", "3"),
            ("answer.stops.~rows", "2"),
            ("answer.stops.0.city", "Oslo"),
            ("answer.stops.1.city", "Bergen"),
        ];
        let removed = html(&trip(), &[rows.as_slice(), &[("step", "remove:answer.stops.0")]].concat());
        assert!(removed.contains("value=\"Bergen\"") && !removed.contains("Oslo"), "{removed}");
        let answer = json!({"days": 3, "stops": [{"city": "Oslo"}, {"city": "Bergen"}]});
        assert_eq!(typed_answer(&question_of(&trip()), &sent(&rows)), Ok(Some(answer)));
    }

    #[test]
    fn each_text_that_cannot_be_read_is_named_by_its_control() {
        let rows = [("answer.days", "many"), ("answer.stops.~rows", "1"), ("answer.stops.0.nights", "few")];
        let wrong = typed_answer(&question_of(&trip()), &sent(&rows)).unwrap_err();
        let names: Vec<_> = wrong.iter().map(|issue| issue.field.as_str()).collect();
        assert_eq!(names, ["answer.days", "answer.stops.0.nights"]);
    }

    #[test]
    fn an_answer_that_is_no_object_has_one_field_and_keeps_its_type() {
        let typed = |schema: Value, text: &str| typed_answer(&question_of(&schema), &sent(&[("answer", text)]));
        assert_eq!(typed(json!({"type": "string"}), "12"), Ok(Some(json!("12"))));
        assert_eq!(typed(json!({"type": "number"}), "1,5"), Ok(Some(json!(1.5))));
        assert_eq!(typed(json!({"type": "number"}), " "), Ok(None));
        let one = html(&json!({"type": "string", "title": "Region"}), &[]);
        assert!(one.contains(">Region</label>") && !one.contains("/pages.css"), "{one}");
        assert!(html(&trip(), &[]).contains("/pages.css"), "rows have styles of their own");
    }
}
