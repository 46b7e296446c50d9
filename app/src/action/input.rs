//! The form for the input of a new session of a task.
//!
//! `metadata.inputSchema`, a JSON Schema, describes the input. Without one the input is a single text area. The
//! fields start with the input of the latest session.

use crate::{
    FieldError, FormState,
    inbox::{FormField, render_fields, schema_fields, typed_value},
    render::static_html,
    trigger::INPUT,
    ui::field::{Field, TextArea},
};
use domain::action::INPUT_SCHEMA;
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::{Map, Value, value::RawValue};
use wire::action::Action;

fn metadata(action: &Action) -> Map<String, Value> {
    serde_json::from_str(action.metadata.get()).unwrap_or_default()
}

/// The fields of the task's input; empty without a schema.
fn task_fields(action: &Action) -> Vec<FormField> {
    let schema = metadata(action).remove(INPUT_SCHEMA).filter(Value::is_object);
    schema.map_or_else(Vec::new, |schema| schema_fields(&schema, (INPUT, |base, key| format!("{base}.{key}")), "Input"))
}

/// The names of the form's fields.
pub fn names(action: &Action) -> Vec<String> {
    let form_fields = task_fields(action);
    if form_fields.is_empty() {
        vec![INPUT.to_owned()]
    } else {
        form_fields.iter().flat_map(FormField::names).collect()
    }
}

/// The form's fields, starting with the input of the latest session.
pub fn input_fields(action: &Action, last: Option<&RawValue>, form: &FormState) -> Vec<InertElement> {
    let last: Option<Value> = last.and_then(|last| serde_json::from_str(last.get()).ok()).filter(|v| *v != Value::Null);
    let form_fields = task_fields(action);
    if form_fields.is_empty() {
        let hint = "What the agent is given. JSON is passed on as JSON, anything else as text.";
        let start = last.as_ref().map(text).unwrap_or_default();
        return vec![static_html(
            view! { <TextArea scope="trigger" field=Field::new(INPUT, "Input").hint(hint) json=true value=&start form=form/> },
        )];
    }
    let again = |form_field: FormField| match &last {
        Some(last) => form_field.starting_with(last),
        None => form_field,
    };
    render_fields("trigger", &form_fields.into_iter().map(again).collect::<Vec<_>>(), form)
}

/// A value as the text that is read as this value: strings as they are, everything else as JSON. A string that is JSON
/// itself, such as `12`, is JSON too.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) if !text.trim().is_empty() && serde_json::from_str::<&RawValue>(text).is_err() => {
            text.clone()
        }
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// The input that was typed, as JSON; `None` if the task has no schema.
///
/// # Errors
/// One error for each field whose text cannot be parsed, with the name of the field.
pub fn input_typed(
    action: &Action,
    typed: impl Fn(&str) -> Option<String>,
) -> Result<Option<Option<String>>, Vec<FieldError>> {
    let form_fields = task_fields(action);
    if form_fields.is_empty() {
        return Ok(None);
    }
    let value =
        typed_value(&form_fields, typed)?.filter(|value| value.as_object().is_none_or(|object| !object.is_empty()));
    Ok(Some(value.map(|value| value.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use serde_json::json;

    fn raw(value: &Value) -> Box<RawValue> {
        RawValue::from_string(value.to_string()).unwrap()
    }

    fn action(metadata: Value) -> Action {
        let at = "2026-11-21T07:00:00Z".parse().unwrap();
        Action {
            id: "01935f00-0000-7000-8000-0000000000a1".parse().unwrap(),
            name: "Report".into(),
            slug: "report".into(),
            description: String::new(),
            agent_slug: Some("scribe".into()),
            assigned_to: None,
            target_entity_id: None,
            output_type: domain::action::OutputType::Text,
            output_config: raw(&json!({})),
            metadata: raw(&metadata),
            status: domain::action::ActionStatus::Active,
            created_at: at,
            updated_at: at,
        }
    }

    fn html(action: &Action, last: Option<Value>) -> String {
        let last = last.map(|last| raw(&last));
        input_fields(action, last.as_deref(), &FormState::default()).into_iter().map(to_html).collect()
    }

    fn weekly() -> Action {
        action(json!({"inputSchema": {"required": ["week"], "properties": {
            "week": {"type": "integer", "title": "Week", "description": "ISO week."},
            "team": {"type": "string", "enum": ["sales", "support"]},
        }}}))
    }

    #[test]
    fn an_input_schema_becomes_a_form_that_begins_with_the_last_input() {
        let fresh = html(&weekly(), None);
        assert!(
            fresh.contains("name=\"input.week\"") && fresh.contains("ISO week.") && !fresh.contains("value=\"47\"")
        );
        let again = html(&weekly(), Some(json!({"week": 47, "team": "support"})));
        assert!(again.contains("value=\"47\""), "{again}");
        assert!(again.split("value=\"support\"").nth(1).unwrap().starts_with(" selected"), "{again}");
    }

    #[test]
    fn without_a_schema_the_last_input_is_typed_again() {
        let free = action(json!({}));
        assert!(html(&free, Some(json!("plain words"))).contains("\nplain words"));
        assert_eq!([json!("12"), json!(12), json!("{}")].map(|value| text(&value)), ["\"12\"", "12", "\"{}\""]);
        let object = html(&free, Some(json!({"a": 1})));
        assert!(object.replace("&quot;", "\"").contains("\"a\": 1"), "{object}");
        assert_eq!(input_typed(&free, |_| None), Ok(None));
    }

    #[test]
    fn a_start_value_of_several_lines_or_no_day_gets_a_control_that_can_hold_it() {
        let task = action(json!({"inputSchema": {"properties": {
            "note": {"type": "string"},
            "from": {"type": "string", "format": "date"},
        }}}));
        let fresh = html(&task, None);
        assert!(!fresh.contains("<textarea") && fresh.contains("type=\"date\""), "{fresh}");
        let again = html(&task, Some(json!({"note": "one\ntwo", "from": "next week"})));
        assert!(again.contains("name=\"input.note\"") && again.contains("\none\ntwo</textarea>"), "{again}");
        assert!(again.contains("value=\"next week\"") && !again.contains("type=\"date\""), "{again}");
        let day = html(&task, Some(json!({"from": "2026-03-01"})));
        assert!(day.contains("type=\"date\"") && day.contains("value=\"2026-03-01\""), "{day}");
    }

    #[test]
    fn what_is_typed_becomes_the_input() {
        let typed = |name: &str| (name == "input.week").then(|| " 48 ".to_owned());
        assert_eq!(input_typed(&weekly(), typed), Ok(Some(Some("{\"week\":48}".into()))));
        assert_eq!(input_typed(&weekly(), |_| None), Ok(Some(None)), "nothing typed is no input");
        let wrong = input_typed(&weekly(), |name| (name == "input.week").then(|| "soon".to_owned())).unwrap_err();
        assert_eq!(wrong[0].field.as_deref(), Some("input.week"));
    }
}
