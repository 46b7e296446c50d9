//! The input of a tool in a posted form: its value, what the buttons of its rows and variants make of it, and where its
//! errors are shown.

use super::form::{Form, FormWithFiles, is_password};
use crate::problem::Problem;
use app::{FormState, schema_form::STEP};
use domain::schema_form::{Fields, Form as SchemaForm, INPUT, place, press, read};
use serde_json::Value;

/// What a button has made of a form.
pub struct Pressed {
    /// The form as it is now.
    pub state: FormState,
    /// The part that the button was about.
    pub focus: String,
}

/// The fields of the input.
pub fn typed(form: &Form) -> Fields {
    Fields::sent(INPUT, form.below(""))
}

/// The input that was typed, as JSON; `None` if nothing was.
///
/// # Errors
/// An error at each control whose text cannot be read, and for a file that cannot be taken.
pub fn typed_input(schema: &Value, sent: &FormWithFiles) -> Result<Option<String>, Problem> {
    let input = read(SchemaForm::of_input(schema), &typed(sent.readable()?)).map_err(ledger::Error::Invalid)?;
    Ok(input.map(|value| value.to_string()))
}

/// What a button has made of the form with this name, or why it could not; `None` if no such button was pressed.
pub fn pressed(name: &str, schema: &Value, sent: &FormWithFiles) -> Option<Result<Pressed, Problem>> {
    let step = sent.form.text(STEP);
    if step.is_empty() {
        return None;
    }
    if let Some(problem) = &sent.refused {
        return Some(Err(problem.clone()));
    }
    let mut fields = typed(&sent.form);
    Some(match press(SchemaForm::of_input(schema), &mut fields, &step) {
        Ok(focus) => Ok(Pressed { state: unsent(name, &fields), focus }),
        Err(wrong) => Err(ledger::Error::Invalid(wrong).into()),
    })
}

/// The form with this name as it was typed, after a button that changes no field of the input.
pub fn unchanged(name: &str, sent: &FormWithFiles) -> Result<Pressed, Problem> {
    Ok(Pressed { state: unsent(name, &typed(sent.readable()?)), focus: String::new() })
}

/// The state of a form that a button has changed. Passwords are not shown again.
fn unsent(name: &str, fields: &Fields) -> FormState {
    // A state without values is that of a form that was not sent, which begins with the defaults.
    let shown = fields.iter().filter(|(name, _)| !is_password(name)).chain([(STEP, "")]);
    FormState {
        form: name.to_owned(),
        values: shown.map(|(name, text)| (name.to_owned(), text.to_owned())).collect(),
        errors: Vec::new(),
    }
}

/// The state of the refused form with each error at the field of its part.
pub fn refused(name: &str, schema: &Value, form: &Form, problem: &Problem) -> FormState {
    let mut state = form.refused(name, problem);
    let fields = typed(form);
    for error in &mut state.errors {
        let pointer = error.field.as_deref().and_then(|field| field.strip_prefix(INPUT));
        let Some(pointer) = pointer.filter(|rest| rest.is_empty() || rest.starts_with('/')) else { continue };
        let (name, inside) = place(SchemaForm::of_input(schema), &fields, pointer);
        error.message = format!("{inside}{}", error.message);
        error.field = Some(name);
    }
    state
}
