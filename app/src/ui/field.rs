//! Form fields with label, hint and error message, labelled for assistive technology.

use super::icon::{Icon, icon};
use crate::{form::FormState, render::static_html};
use leptos::{prelude::*, tachys::html::InertElement};

/// A form field, without its state.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// Name of the form field.
    pub name: &'a str,
    /// The visible label.
    pub label: &'a str,
    /// One line of help; may be empty.
    pub hint: &'a str,
    /// Whether a value is required.
    pub required: bool,
}

impl<'a> Field<'a> {
    /// An optional field without a hint.
    pub const fn new(name: &'a str, label: &'a str) -> Self {
        Self { name, label, hint: "", required: false }
    }

    /// Sets the hint.
    pub const fn hint(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// Makes the field required.
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

/// Ids and texts that surround a control.
struct Around {
    id: String,
    described_by: Option<String>,
    invalid: Option<&'static str>,
    error: Option<String>,
}

fn around(scope: &str, field: Field<'_>, form: &FormState) -> Around {
    let id = format!("{scope}-{}", field.name);
    let error = form.error(field.name).map(str::to_owned);
    let mut described = Vec::new();
    if error.is_some() {
        described.push(format!("{id}-error"));
    }
    if !field.hint.is_empty() {
        described.push(format!("{id}-hint"));
    }
    let described_by = (!described.is_empty()).then(|| described.join(" "));
    Around { id, described_by, invalid: error.is_some().then_some("true"), error }
}

fn frame(around: Around, field: Field<'_>, control: InertElement) -> InertElement {
    let Around { id, error, .. } = around;
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    static_html(view! {
        <div class="field">
            <label class="field-label" for=id>{field.label.to_owned()}</label>
            {control}
            {error.map(|message| view! { <p class="field-error" id=error_id>{icon(Icon::Alert)}<span>{message}</span></p> })}
            {(!field.hint.is_empty()).then(|| view! { <p class="field-hint" id=hint_id>{field.hint.to_owned()}</p> })}
        </div>
    })
}

/// A one-line input. `kind` is its HTML type. A password input never gets a value.
pub fn input(
    scope: &str,
    field: Field<'_>,
    kind: &'static str,
    start: &str,
    autocomplete: &'static str,
    form: &FormState,
) -> InertElement {
    let around = around(scope, field, form);
    let value = if kind == "password" { None } else { Some(form.value_or(field.name, start)) };
    let control = view! {
        <input
            class="input"
            id=around.id.clone()
            name=field.name.to_owned()
            type=kind
            value=value
            required=field.required
            autocomplete=autocomplete
            aria-invalid=around.invalid
            aria-describedby=around.described_by.clone()
        />
    };
    frame(around, field, static_html(control))
}

/// A text area; `json` sets its text in a monospaced font.
pub fn textarea(scope: &str, field: Field<'_>, json: bool, start: &str, form: &FormState) -> InertElement {
    let around = around(scope, field, form);
    // The HTML parser drops the first line break of a text area, so one more is written.
    let value = format!("\n{}", form.value_or(field.name, start));
    let control = view! {
        <textarea
            class="input"
            id=around.id.clone()
            name=field.name.to_owned()
            rows="4"
            data-kind=if json { "json" } else { "text" }
            spellcheck=if json { "false" } else { "true" }
            required=field.required
            aria-invalid=around.invalid
            aria-describedby=around.described_by.clone()
        >
            {value}
        </textarea>
    };
    frame(around, field, static_html(control))
}

/// A select with these options, `(value, label)`.
pub fn select(
    scope: &str,
    field: Field<'_>,
    options: Vec<(String, String)>,
    start: &str,
    form: &FormState,
) -> InertElement {
    let around = around(scope, field, form);
    let chosen = form.value_or(field.name, start);
    let options = options
        .into_iter()
        .map(|(value, label)| view! { <option value=value.clone() selected=value == chosen>{label}</option> })
        .collect::<Vec<_>>();
    let control = view! {
        <select
            class="input"
            id=around.id.clone()
            name=field.name.to_owned()
            aria-invalid=around.invalid
            aria-describedby=around.described_by.clone()
        >
            {options}
        </select>
    };
    frame(around, field, static_html(control))
}
