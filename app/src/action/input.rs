//! The form for the input of a new session of a task.
//!
//! `metadata.inputSchema`, a JSON Schema, describes the input. Without one the input is a single text area. The
//! fields start with the input of the latest session.

use crate::{
    FormState,
    render::static_html,
    schema_form::{Place, shown_fields},
    trigger::{TriggerAction, TypedInput},
    ui::field::{Field, TextArea},
};
use domain::{
    action::INPUT_SCHEMA,
    issue::Issue,
    schema_form::{Form, INPUT, begin, place_of_path, read, write},
};
use leptos::{prelude::*, server_fn::ServerFn as _, tachys::html::InertElement};
use serde_json::{Map, Value, value::RawValue};
use wire::action::Action;

fn metadata(action: &Action) -> Map<String, Value> {
    serde_json::from_str(action.metadata.get()).unwrap_or_default()
}

/// The schema of the task's input, if it has one.
fn schema_of(action: &Action) -> Option<Value> {
    metadata(action).remove(INPUT_SCHEMA).filter(Value::is_object)
}

/// The form for the input of a session.
pub struct InputFields {
    /// The fields.
    pub html: InertElement,
    /// Their names, at which messages are shown.
    pub names: Vec<String>,
    /// Whether a text file can be chosen.
    pub takes_files: bool,
    /// The button that makes the whole input one text area for JSON.
    pub json_button: Option<InertElement>,
}

/// The form's fields, starting with the input of the latest session.
pub fn input_fields(action: &Action, last: Option<&RawValue>, form: &FormState) -> InputFields {
    let last: Option<Value> = last.and_then(|last| serde_json::from_str(last.get()).ok()).filter(|v| *v != Value::Null);
    let Some(schema) = schema_of(action) else {
        let hint = "What the agent is given. JSON is passed on as JSON, anything else as text.";
        let start = last.as_ref().map(text).unwrap_or_default();
        let html = static_html(
            view! { <TextArea scope="trigger" field=Field::new(INPUT, "Input").hint(hint) json=true value=&start form=form/> },
        );
        return InputFields { html, names: vec![INPUT.to_owned()], takes_files: false, json_button: None };
    };
    let own = Form::of_input(&schema);
    let place = Place {
        scope: "trigger",
        label: "Input",
        target: TriggerAction::PATH,
        nothing: "This task takes no input.",
        keeps_rows: false,
    };
    let drawn = shown_fields(place, own, form, || match &last {
        Some(last) => write(own, last),
        None => begin(own),
    });
    let (html, takes_files, json_button) = (drawn.html, drawn.takes_files, drawn.json_button);
    InputFields { html, names: drawn.names.into_iter().collect(), takes_files, json_button }
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

/// The input that was typed, as JSON; `None` if the task has no schema. A form without fields gives no input, so that
/// the defaults of the schema are used.
///
/// # Errors
/// One issue for each field whose text cannot be parsed, with the name of the field.
pub fn input_typed(action: &Action, typed: &TypedInput) -> Result<Option<Option<String>>, Vec<Issue>> {
    let Some(schema) = schema_of(action) else { return Ok(None) };
    if *typed == TypedInput::default() {
        return Ok(Some(None));
    }
    let value = read(Form::of_input(&schema), &typed.fields())?
        .filter(|value| value.as_object().is_none_or(|object| !object.is_empty()));
    Ok(Some(value.map(|value| value.to_string())))
}

/// The control at which an error of the input is shown, and a text about the place inside of it. A refusal names a part
/// by its path, such as `input.stops[0].city`. Any other name stays as it is.
pub fn place_of_input_error(action: &Action, typed: &TypedInput, path: &str) -> (String, String) {
    let of_input = path.strip_prefix(INPUT).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    match schema_of(action).filter(|_| of_input) {
        Some(schema) => place_of_path(Form::of_input(&schema), &typed.fields(), path),
        None => (path.to_owned(), String::new()),
    }
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
        to_html(input_fields(action, last.as_deref(), &FormState::default()).html)
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
        assert_eq!(input_typed(&free, &TypedInput::default()), Ok(None));
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

    fn typed(texts: &[(&str, &str)]) -> TypedInput {
        TypedInput::Fields(texts.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect())
    }

    #[test]
    fn what_is_typed_becomes_the_input() {
        assert_eq!(input_typed(&weekly(), &typed(&[("week", " 48 ")])), Ok(Some(Some("{\"week\":48}".into()))));
        assert_eq!(input_typed(&weekly(), &TypedInput::default()), Ok(Some(None)), "nothing typed is no input");
        let wrong = input_typed(&weekly(), &typed(&[("week", "soon")])).unwrap_err();
        assert_eq!(wrong[0].field, "input.week");
    }

    #[test]
    fn rows_of_an_input_are_typed_and_an_error_leads_to_its_row() {
        let stops = json!({"type": "array", "items": {"type": "object", "properties": {"city": {"type": "string"}}}});
        let task = action(json!({"inputSchema": {"type": "object", "properties": {"stops": stops}}}));
        let rows = typed(&[("stops.~rows", "2"), ("stops.0.city", "Oslo"), ("stops.1.city", "Bergen")]);
        let input = input_typed(&task, &rows).unwrap().flatten().unwrap();
        assert_eq!(input, r#"{"stops":[{"city":"Oslo"},{"city":"Bergen"}]}"#);
        assert_eq!(place_of_input_error(&task, &rows, "input.stops[1].city").0, "input.stops.1.city");
        assert_eq!(place_of_input_error(&task, &rows, "inputs").0, "inputs");
        let whole = typed(&[("~", "{\"stops\": []}"), ("~json", "1")]);
        assert_eq!(input_typed(&task, &whole), Ok(Some(Some("{\"stops\":[]}".into()))));
    }
}
