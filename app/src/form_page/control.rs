//! One question of a form: its label, help, error and control.

use super::{
    EntityOptions,
    words::{condition_text, control_id, issue_of},
};
use crate::render::static_html;
use domain::{
    criteria_set::{Dimension, DimensionKind},
    issue::Issue,
    limit::FIELD_TEXT_CHARS_MAX,
    view::{Answers, Choice, Field, Kind, OFFSETS, UTC, ZONE, applicable, split_instant},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;
use std::borrow::Cow;

/// Most options that are shown as radio buttons. More become a list to choose from.
const RADIOS_MAX: usize = 10;

/// Most steps of a scale that are shown. A published scale has fewer.
const STEPS_MAX: usize = 101;

/// A control's name, its id, its texts and what is in it.
struct Slot<'a> {
    /// Name of the control: `key` below the prefix of the form's names.
    name: String,
    /// Key of the field, for a dimension of a rating `key.dimension`. Issues name it.
    key: String,
    label: String,
    help: &'a str,
    is_optional: bool,
    error: Option<&'a str>,
    value: Option<&'a Value>,
}

impl Slot<'_> {
    fn id(&self) -> String {
        control_id(&self.name)
    }

    fn described_by(&self) -> Option<String> {
        let mut ids = Vec::new();
        if self.error.is_some() {
            ids.push(format!("{}-error", self.id()));
        }
        if !self.help.is_empty() {
            ids.push(format!("{}-hint", self.id()));
        }
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    fn invalid(&self) -> Option<&'static str> {
        self.error.is_some().then_some("true")
    }

    fn text(&self) -> String {
        match self.value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            // Only the control of a list of texts shows an array.
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
            Some(value) => value.to_string(),
        }
    }

    fn is_chosen(&self, option: &str) -> bool {
        match self.value {
            Some(Value::Array(chosen)) => chosen.iter().any(|value| value == option),
            Some(_) => self.text() == option,
            None => false,
        }
    }
}

/// Renders a question. The element names its field, so that the script can hide it. The name of its control begins
/// with `prefix`.
pub fn question(
    prefix: &str,
    field: &Field,
    fields: &[Field],
    answers: &Answers,
    issues: &[Issue],
    entities: &EntityOptions,
) -> InertElement {
    let condition = field.show_if.as_ref().and_then(|condition| condition_text(condition, fields));
    let applies = applicable(fields, answers).iter().any(|applying| applying.key == field.key);
    let help = match field.kind {
        Kind::TextList { .. } => Cow::Owned(format!("{} One on each line.", field.help).trim_start().to_owned()),
        _ => Cow::Borrowed(field.help.as_str()),
    };
    let slot = Slot {
        name: format!("{prefix}{}", field.key),
        key: field.key.clone(),
        label: field.label.clone(),
        help: &help,
        is_optional: !field.required,
        error: issue_of(issues, &field.key),
        value: answers.get(&field.key),
    };
    let control = match &field.kind {
        Kind::Rating { dimensions, .. } => rating(&slot, dimensions, issues),
        kind => of_kind(&slot, kind, entities.get(&field.key)),
    };
    static_html(view! {
        <div class="question" data-question=field.key.clone() data-off=(!applies).then_some("")>
            {condition.map(|text| view! { <p class="condition">{text}</p> })}
            {control}
        </div>
    })
}

fn of_kind(slot: &Slot<'_>, kind: &Kind, entities: Option<&Vec<(String, String)>>) -> InertElement {
    let yes_no = || [("true", "Yes"), ("false", "No")].map(|(value, label)| pair(value, label)).to_vec();
    match kind {
        Kind::ShortText { max_length, .. } => input(slot, "text", None, *max_length),
        Kind::LongText { .. } | Kind::TextList { .. } => text_area(slot),
        Kind::Number { .. } => input(slot, "text", Some("decimal"), None),
        Kind::Integer { .. } => input(slot, "text", Some("numeric"), None),
        Kind::YesNo => choices(slot, "radio", &yes_no(), true),
        Kind::Date => input(slot, "date", None, None),
        Kind::DateTime => date_time(slot),
        Kind::SingleChoice { options } => one_of(slot, options),
        Kind::MultipleChoice { options, .. } => choices(slot, "checkbox", options, false),
        Kind::Scale { minimum, maximum, low_label, high_label } => {
            scale(slot, (*minimum, *maximum), (low_label, high_label))
        }
        Kind::Entity { .. } => match entities {
            Some(known) => {
                let options: Vec<_> = known.iter().map(|(id, title)| pair(id, title)).collect();
                select(slot, &options)
            }
            None => input(slot, "text", None, None),
        },
        Kind::Email => input(slot, "email", None, None),
        Kind::Url => input(slot, "url", None, None),
        Kind::Rating { .. } => input(slot, "text", None, None),
    }
}

fn pair(value: &str, label: &str) -> Choice {
    Choice { value: value.to_owned(), label: label.to_owned() }
}

fn one_of(slot: &Slot<'_>, options: &[Choice]) -> InertElement {
    if options.len() > RADIOS_MAX { select(slot, options) } else { choices(slot, "radio", options, false) }
}

fn optional(slot: &Slot<'_>) -> impl IntoView + use<> {
    slot.is_optional.then(|| view! { <span class="optional">" (optional)"</span> })
}

/// Help and error of a control.
fn notes(slot: &Slot<'_>) -> impl IntoView + use<> {
    let id = slot.id();
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    let help = slot.help.to_owned();
    view! {
        {(!help.is_empty()).then(|| view! { <p class="field-hint" id=hint_id>{help}</p> })}
        {slot.error.map(|error| {
            view! { <p class="field-error" id=error_id><span class="hidden-text">"Error: "</span>{error.to_owned()}</p> }
        })}
    }
}

/// A control with one label.
fn labelled(slot: &Slot<'_>, control: InertElement) -> InertElement {
    static_html(view! {
        <div class="field">
            <label class="field-label" for=slot.id()>{slot.label.clone()}{optional(slot)}</label>
            {notes(slot)}
            {control}
        </div>
    })
}

fn input(
    slot: &Slot<'_>,
    kind: &'static str,
    inputmode: Option<&'static str>,
    max_length: Option<u32>,
) -> InertElement {
    let autocomplete = match kind {
        "email" => "email",
        "url" => "url",
        _ => "off",
    };
    let longest = max_length.map_or(FIELD_TEXT_CHARS_MAX.to_string(), |most| most.to_string());
    labelled(
        slot,
        static_html(view! {
            <input
                class="input"
                id=slot.id()
                name=slot.name.clone()
                type=kind
                inputmode=inputmode
                value=slot.text()
                maxlength=(kind != "date").then_some(longest)
                autocomplete=autocomplete
                aria-invalid=slot.invalid()
                aria-describedby=slot.described_by()
            />
        }),
    )
}

/// A date and time with the offset that it is in. A text that is no instant is shown as it was typed.
fn date_time(slot: &Slot<'_>) -> InertElement {
    let text = slot.text();
    let (local, offset) = match split_instant(&text) {
        Some(parts) => parts,
        None if text.is_empty() => (text, UTC.to_owned()),
        None => return input(slot, "text", None, None),
    };
    let zone = format!("{}.{ZONE}", slot.name);
    let label = format!("Time zone of: {}", slot.label);
    labelled(
        slot,
        static_html(view! {
            <div class="instant">
                <input
                    class="input"
                    id=slot.id()
                    name=slot.name.clone()
                    type="datetime-local"
                    step=time_step(&local)
                    value=local
                    aria-invalid=slot.invalid()
                    aria-describedby=slot.described_by()
                />
                <select class="input" id=control_id(&zone) name=zone aria-label=label data-zone="">
                    {offset_options(&offset)}
                </select>
            </div>
        }),
    )
}

/// The step of a time with seconds. Without one a browser takes whole minutes.
fn time_step(local: &str) -> Option<&'static str> {
    match local {
        time if time.contains('.') => Some("0.001"),
        time if time.matches(':').count() > 1 => Some("1"),
        _ => None,
    }
}

/// The offsets from UTC to choose from, with the chosen one among them.
fn offset_options(chosen: &str) -> Vec<impl IntoView + use<>> {
    let other = (!OFFSETS.contains(&chosen)).then(|| chosen.to_owned());
    let all = OFFSETS.into_iter().map(str::to_owned).chain(other);
    all.map(|offset| {
        let label = if offset == UTC { "UTC".to_owned() } else { format!("UTC{offset}") };
        view! { <option value=offset.clone() selected=offset == chosen>{label}</option> }
    })
    .collect()
}

fn text_area(slot: &Slot<'_>) -> InertElement {
    // The HTML parser drops the first line break of a text area, so one more is written.
    let value = format!("\n{}", slot.text());
    labelled(
        slot,
        static_html(view! {
            <textarea
                class="input"
                id=slot.id()
                name=slot.name.clone()
                rows="5"
                aria-invalid=slot.invalid()
                aria-describedby=slot.described_by()
            >
                {value}
            </textarea>
        }),
    )
}

fn select(slot: &Slot<'_>, options: &[Choice]) -> InertElement {
    let options: Vec<_> = options
        .iter()
        .map(|option| {
            let chosen = slot.is_chosen(&option.value);
            view! { <option value=option.value.clone() selected=chosen>{option.label.clone()}</option> }
        })
        .collect();
    labelled(
        slot,
        static_html(view! {
            <select
                class="input"
                id=slot.id()
                name=slot.name.clone()
                aria-invalid=slot.invalid()
                aria-describedby=slot.described_by()
            >
                <option value="">"Choose"</option>
                {options}
            </select>
        }),
    )
}

/// A group of radio buttons or check boxes. The first has the id of the question, to which the summary of errors links.
fn choices(slot: &Slot<'_>, kind: &'static str, options: &[Choice], in_a_row: bool) -> InertElement {
    let each: Vec<_> = options
        .iter()
        .enumerate()
        .map(|(index, option)| {
            let id = if index == 0 { slot.id() } else { format!("{}-{index}", slot.id()) };
            view! {
                <label class="choice" for=id.clone()>
                    <input id=id.clone() name=slot.name.clone() type=kind value=option.value.clone() checked=slot.is_chosen(&option.value)/>
                    <span>{option.label.clone()}</span>
                </label>
            }
        })
        .collect();
    static_html(view! {
        <fieldset class="field" aria-describedby=slot.described_by() data-invalid=slot.invalid()>
            <legend class="field-label">{slot.label.clone()}{optional(slot)}</legend>
            {notes(slot)}
            <div class="choices" data-row=in_a_row.then_some("")>{each}</div>
        </fieldset>
    })
}

fn scale(slot: &Slot<'_>, (least, most): (i64, i64), (low, high): (&str, &str)) -> InertElement {
    // A preview shows scales that cannot be published. They have any number of steps.
    let options: Vec<_> = (least..=most)
        .take(STEPS_MAX)
        .map(|value| {
            let meaning = match value {
                value if value == least => low,
                value if value == most => high,
                _ => "",
            };
            let text = value.to_string();
            if meaning.is_empty() { pair(&text, &text) } else { pair(&text, &format!("{text} · {meaning}")) }
        })
        .collect();
    choices(slot, "radio", &options, true)
}

/// A judgement: a group with a control for each dimension.
fn rating(slot: &Slot<'_>, dimensions: &[Dimension], issues: &[Issue]) -> InertElement {
    let each: Vec<_> = dimensions
        .iter()
        .map(|dimension| {
            let below = |name: &str| format!("{name}.{}", dimension.slug);
            let (name, key) = (below(&slot.name), below(&slot.key));
            let of_dimension = Slot {
                error: issue_of(issues, &key),
                label: dimension.name.clone(),
                help: "",
                is_optional: dimension.kind == DimensionKind::Text,
                value: slot.value.and_then(|value| value.get(&dimension.slug)),
                name,
                key,
            };
            let options: Vec<_> = dimension.options.iter().map(|option| pair(&option.value, &option.label)).collect();
            match (dimension.kind, whole_range(dimension)) {
                (DimensionKind::Select, _) => one_of(&of_dimension, &options),
                (DimensionKind::Scale, Some(range)) => scale(&of_dimension, range, ("", "")),
                (DimensionKind::Number | DimensionKind::Scale, _) => {
                    input(&of_dimension, "text", Some("decimal"), None)
                }
                (DimensionKind::Text, _) => text_area(&of_dimension),
            }
        })
        .collect();
    let unknown = each.is_empty().then(|| view! { <p class="field-hint">"The criteria set has no dimensions."</p> });
    static_html(view! {
        <fieldset class="field rating" id=slot.id() tabindex="-1" aria-describedby=slot.described_by()>
            <legend class="field-label">{slot.label.clone()}{optional(slot)}</legend>
            {notes(slot)}
            {each}
            {unknown}
        </fieldset>
    })
}

/// The steps of a dimension with a scale, if they are few enough for buttons.
fn whole_range(dimension: &Dimension) -> Option<(i64, i64)> {
    let whole = |bound: f64| (bound.fract() == 0.0 && bound.abs() < 1e6).then(|| format!("{bound:.0}").parse().ok())?;
    let (least, most): (i64, i64) = (whole(dimension.min?)?, whole(dimension.max?)?);
    (most >= least && most - least <= 20).then_some((least, most))
}
