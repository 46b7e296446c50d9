//! Forms that were sent.

use super::draw::{Drawn, Place, draw_fields};
use crate::{FieldError, FormState};
use domain::{
    issue::Issue,
    schema_form::{Fields, Form, press},
};

/// Name of the buttons that change a form, and do not send its value.
pub const STEP: &str = "step";

/// The texts of a form that was sent; `None` if none of its fields was. With the field [`STEP`] a form without fields
/// was sent too.
pub fn sent_fields(form: Form<'_>, state: &FormState) -> Option<Fields> {
    let texts = state.values.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let sent = Fields::sent(form.root, texts);
    (!sent.is_empty() || state.value(STEP).is_some()).then_some(sent)
}

/// Renders the fields as they were sent, after what the pressed button does, or else as they are at the `start`.
pub fn shown_fields(place: Place<'_>, form: Form<'_>, state: &FormState, start: impl FnOnce() -> Fields) -> Drawn {
    let mut state = state.clone();
    let mut texts = sent_fields(form, &state).unwrap_or_else(start);
    let focus = press(form, &mut texts, state.value(STEP).unwrap_or_default()).unwrap_or_else(|wrong| {
        let error = |Issue { field, message }: Issue| FieldError { field: Some(field), message };
        state.errors.extend(wrong.into_iter().map(error));
        String::new()
    });
    draw_fields(place, form, &texts, (&state, &focus))
}
