//! The answer to a question: free text, a value of a schema, or the questions of a form. A form has the controls and
//! the rules of its own page.

use super::{
    control_name::control_name,
    item_text::task,
    question::{ANSWER, FormField, render_fields, schema_fields, typed_value},
};
use crate::{
    FieldError, FormState,
    form_page::{EntityOptions, control_id, questions},
    render::static_html,
    ui::field::{Field as Labelled, TextArea},
};
use domain::{
    gate::Task,
    issue::Issue,
    view::{Answers, Field, Kind, ZONE, defaults, from_form},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;
use wire::approval::Approval;

/// How a question is answered.
pub enum AnswerForm {
    /// Text.
    Free,
    /// One field for each property of the answer's schema, or one for the whole.
    Schema(Vec<FormField>),
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
        question
            .schema
            .map_or(Self::Free, |schema| Self::Schema(schema_fields(&schema, (ANSWER, control_name), "Answer")))
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
            Self::Schema(form_fields) => form_fields.iter().flat_map(FormField::names).collect(),
            Self::Questions(fields) => controls(fields).into_iter().map(|(name, _)| name).collect(),
        }
    }
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

/// Renders the controls of an answer form. `form` restores the typed text and has its errors; `hint` says what an
/// answer in free text does.
pub fn answer_controls(
    answer_form: &AnswerForm,
    form: &FormState,
    entities: &EntityOptions,
    hint: &str,
) -> Vec<InertElement> {
    match answer_form {
        AnswerForm::Free => {
            let field = Labelled::new(ANSWER, "Answer").hint(hint).required();
            vec![static_html(view! { <TextArea scope="gate" field=field form=form/> })]
        }
        AnswerForm::Schema(form_fields) => render_fields("gate", form_fields, form),
        AnswerForm::Questions(fields) => vec![render_questions(fields, form, entities)],
    }
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
        let names = AnswerForm::of(&form()).names();
        assert_eq!(
            names,
            ["answer.zone", "answer.colours", "answer.days", "answer.quality.tone", "answer.when", "answer.when.zone"]
        );
        assert_eq!(AnswerForm::of(&form()).first_control(), "f-answer-zone");
    }

    #[test]
    fn answers_to_a_form_have_the_types_of_its_questions() {
        let text = |name: &str| match name {
            "answer.zone" => Some("EU".to_owned()),
            "answer.colours" => Some("b\r\nr".to_owned()),
            "answer.days" => Some("many".to_owned()),
            "answer.quality.tone" => Some("4".to_owned()),
            "answer.when" => Some("2026-03-01T09:30".to_owned()),
            "answer.when.zone" => Some("+02:00".to_owned()),
            "answer.source" => Some("not asked".to_owned()),
            _ => None,
        };
        let expected = json!({
            "zone": "EU", "colours": ["b", "r"], "days": "many", "quality": { "tone": 4 },
            "when": "2026-03-01T09:30:00+02:00",
        });
        assert_eq!(typed_answer(&form(), text), Ok(Some(expected)), "what is wrong stays as typed, to be refused");
    }
}
