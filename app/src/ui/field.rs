//! Form fields with label, hint and error message, labelled for assistive technology.

use super::icon::{Icon, icon};
use crate::{form::FormState, render::static_html};
use domain::view::is_day;
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
    /// Value of `aria-invalid`. The first invalid control has the focus when the page is shown, unless errors of the
    /// whole form have it.
    invalid: Option<&'static str>,
    error: Option<String>,
    is_wide: bool,
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
    Around { id, described_by, invalid: error.is_some().then_some("true"), error, is_wide: false }
}

fn frame(around: Around, field: Field<'_>, control: InertElement) -> InertElement {
    let Around { id, error, is_wide, .. } = around;
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    static_html(view! {
        <div class="field" data-wide=is_wide.then_some("")>
            <label class="field-label" for=id>{field.label.to_owned()}</label>
            {control}
            {error.map(|message| view! { <p class="field-error" id=error_id>{icon(Icon::Alert)}<span>{message}</span></p> })}
            {(!field.hint.is_empty()).then(|| view! { <p class="field-hint" id=hint_id>{field.hint.to_owned()}</p> })}
        </div>
    })
}

/// A one-line input. A password input never gets a value. A date input with a text that is not a day is a text input.
#[component]
pub fn Input<'a>(
    /// Prefix of its ids: the name of the form.
    scope: &'a str,
    /// Name, label and hint.
    field: Field<'a>,
    /// State of the form: the typed text and the errors.
    form: &'a FormState,
    /// Its HTML type.
    #[prop(default = "text")]
    kind: &'static str,
    /// The text at the start.
    #[prop(optional, into)]
    value: String,
    /// What the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Whether the text can be read and not changed.
    #[prop(optional)]
    readonly: bool,
    /// Whether it takes the room that the other fields of a filter leave.
    #[prop(optional)]
    wide: bool,
    /// Longest text that can be typed, characters.
    #[prop(optional)]
    chars_max: Option<usize>,
    /// What an empty field shows. It does not replace the label.
    #[prop(optional)]
    placeholder: Option<&'static str>,
    /// Values that are suggested while someone types. Others can be typed too.
    #[prop(optional)]
    suggestions: Vec<String>,
) -> InertElement {
    let around = Around { is_wide: wide, ..around(scope, field, form) };
    let value = if kind == "password" { None } else { Some(form.value_or(field.name, &value)) };
    // A browser shows no text that is not a day in a date input, and would send an empty value back.
    let is_other = kind == "date" && value.as_ref().is_some_and(|day| !day.is_empty() && !is_day(day));
    let kind = if is_other { "text" } else { kind };
    // A time has whole minutes, unless the step is less.
    let step = value.as_ref().filter(|_| kind == "datetime-local").and_then(|time| match time {
        time if time.contains('.') => Some("0.001"),
        time if time.matches(':').count() > 1 => Some("1"),
        _ => None,
    });
    let list = (!suggestions.is_empty()).then(|| format!("{}-known", around.id));
    let options = suggestions.into_iter().map(|value| view! { <option value=value></option> }).collect::<Vec<_>>();
    let control = view! {
        <input
            class="input"
            id=around.id.clone()
            name=field.name.to_owned()
            type=kind
            value=value
            required=field.required
            readonly=readonly
            maxlength=chars_max.map(|max| max.to_string())
            step=step
            placeholder=placeholder
            list=list.clone()
            autocomplete=autocomplete
            autofocus=around.invalid.is_some()
            aria-invalid=around.invalid
            aria-describedby=around.described_by.clone()
        />
        {list.map(|id| view! { <datalist id=id>{options}</datalist> })}
    };
    frame(around, field, static_html(control))
}

/// An input of several lines.
#[component]
pub fn TextArea<'a>(
    /// Prefix of its ids: the name of the form.
    scope: &'a str,
    /// Name, label and hint.
    field: Field<'a>,
    /// State of the form: the typed text and the errors.
    form: &'a FormState,
    /// The text at the start.
    #[prop(optional, into)]
    value: String,
    /// Whether the text is JSON, set in a monospaced font and not checked for spelling.
    #[prop(optional)]
    json: bool,
    /// Visible lines at the start.
    #[prop(default = 4)]
    rows: u8,
    /// Longest text that can be typed, characters.
    #[prop(optional)]
    chars_max: Option<usize>,
) -> InertElement {
    let around = around(scope, field, form);
    // The HTML parser drops the first line break of a text area, so one more is written.
    let value = format!("\n{}", form.value_or(field.name, &value));
    let control = view! {
        <textarea
            class="input"
            id=around.id.clone()
            name=field.name.to_owned()
            rows=rows.to_string()
            maxlength=chars_max.map(|max| max.to_string())
            data-kind=if json { "json" } else { "text" }
            spellcheck=if json { "false" } else { "true" }
            required=field.required
            autofocus=around.invalid.is_some()
            aria-invalid=around.invalid
            aria-describedby=around.described_by.clone()
        >
            {value}
        </textarea>
    };
    frame(around, field, static_html(control))
}

/// A choice of one option.
#[component]
pub fn Select<'a>(
    /// Prefix of its ids: the name of the form.
    scope: &'a str,
    /// Name, label and hint.
    field: Field<'a>,
    /// State of the form: the chosen option and the errors.
    form: &'a FormState,
    /// The options, `(value, label)`.
    options: Vec<(String, String)>,
    /// The option that is chosen at the start.
    #[prop(optional, into)]
    value: String,
) -> InertElement {
    let options = options_of(options, &form.value_or(field.name, &value));
    select(scope, field, form, options)
}

/// A choice of one option of several groups. At the start none is chosen.
#[component]
pub fn GroupedSelect<'a>(
    /// Prefix of its ids: the name of the form.
    scope: &'a str,
    /// Name, label and hint.
    field: Field<'a>,
    /// State of the form: the chosen option and the errors.
    form: &'a FormState,
    /// The label of each group and its options, `(value, label)`. A group without options is left out.
    groups: Vec<(&'static str, Vec<(String, String)>)>,
) -> InertElement {
    let chosen = form.value_or(field.name, "");
    let none = options_of(vec![(String::new(), "Choose".to_owned())], &chosen);
    let groups = groups.into_iter().filter(|(_, options)| !options.is_empty());
    let groups = groups
        .map(|(label, options)| view! { <optgroup label=label>{options_of(options, &chosen)}</optgroup> })
        .collect::<Vec<_>>();
    select(scope, field, form, (none, groups))
}

fn options_of(options: Vec<(String, String)>, chosen: &str) -> Vec<impl IntoView + use<>> {
    options
        .into_iter()
        .map(|(value, label)| view! { <option value=value.clone() selected=value == chosen>{label}</option> })
        .collect()
}

fn select(scope: &str, field: Field<'_>, form: &FormState, options: impl IntoView) -> InertElement {
    let around = around(scope, field, form);
    let control = view! {
        <select
            class="input"
            id=around.id.clone()
            name=field.name.to_owned()
            required=field.required
            autofocus=around.invalid.is_some()
            aria-invalid=around.invalid
            aria-describedby=around.described_by.clone()
        >
            {options}
        </select>
    };
    frame(around, field, static_html(control))
}

/// One option of [`CheckBoxes`].
#[derive(Debug, Clone)]
pub struct CheckBox {
    /// Value that is sent if it is ticked.
    pub value: String,
    /// Label beside it.
    pub label: String,
    /// Whether it is ticked.
    pub is_ticked: bool,
}

/// A group of check boxes with a label. The first has the id of the field, to which a summary of errors links.
#[component]
pub fn CheckBoxes<'a>(
    /// Prefix of its ids: the name of the form.
    scope: &'a str,
    /// Name, label and hint. Browsers cannot require one of a group.
    field: Field<'a>,
    /// State of the form: the errors.
    form: &'a FormState,
    /// The options, in their order.
    options: Vec<CheckBox>,
) -> InertElement {
    let Around { id, described_by, invalid, error, .. } = around(scope, field, form);
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    let boxes = options.into_iter().enumerate().map(|(index, CheckBox { value, label, is_ticked })| {
        let id = if index == 0 { id.clone() } else { format!("{id}-{index}") };
        view! {
            <label class="choice" for=id.clone()>
                <input id=id.clone() name=field.name.to_owned() type="checkbox" value=value checked=is_ticked/>
                <span dir="auto">{label}</span>
            </label>
        }
    });
    let boxes = boxes.collect::<Vec<_>>();
    static_html(view! {
        <fieldset class="field" aria-describedby=described_by data-invalid=invalid>
            <legend class="field-label">{field.label.to_owned()}</legend>
            <div class="choices">{boxes}</div>
            {error.map(|message| view! { <p class="field-error" id=error_id>{icon(Icon::Alert)}<span>{message}</span></p> })}
            {(!field.hint.is_empty()).then(|| view! { <p class="field-hint" id=hint_id>{field.hint.to_owned()}</p> })}
        </fieldset>
    })
}

/// A file to upload.
#[component]
pub fn FileInput<'a>(
    /// Prefix of its ids: the name of the form.
    scope: &'a str,
    /// Name, label and hint.
    field: Field<'a>,
    /// State of the form: the errors. A browser never fills in a file again.
    form: &'a FormState,
    /// The file types that the browser offers.
    accept: &'static str,
) -> InertElement {
    let around = around(scope, field, form);
    let control = view! {
        <input
            class="input"
            id=around.id.clone()
            name=field.name.to_owned()
            type="file"
            accept=accept
            required=field.required
            autofocus=around.invalid.is_some()
            aria-invalid=around.invalid
            aria-describedby=around.described_by.clone()
        />
    };
    frame(around, field, static_html(control))
}

/// How many of its group can be chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Many {
    /// Any number: check boxes.
    #[default]
    Any,
    /// One: radio buttons.
    One,
}

/// A check box or radio button with its label.
#[component]
pub fn Choice(
    /// Name of the form field.
    #[prop(into)]
    name: String,
    /// What is sent if it is chosen.
    #[prop(default = "on")]
    value: &'static str,
    /// Whether it is chosen at the start.
    checked: bool,
    /// The label.
    children: Children,
    /// Whether it is a check box or a radio button.
    #[prop(optional)]
    many: Many,
    /// Id of the paragraph that explains it.
    #[prop(optional)]
    described_by: Option<&'static str>,
) -> impl IntoView {
    let kind = match many {
        Many::Any => "checkbox",
        Many::One => "radio",
    };
    view! {
        <label class="choice">
            <input type=kind name=name value=value checked=checked aria-describedby=described_by/>
            <span>{children()}</span>
        </label>
    }
}
