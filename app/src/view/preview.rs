//! How a form looks to the people who answer it. Nothing in a preview can be sent.

use crate::render::{static_html, to_html};
use domain::view::{Choice, Field, Kind};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;

/// The preview alone, which a script puts beside the editor.
pub fn preview_fragment(title: &str, introduction: &str, fields: &[Field]) -> String {
    to_html(preview(title, introduction, fields))
}

/// The form as its respondents see it, with the answers that it shows at first.
pub fn preview(title: &str, introduction: &str, fields: &[Field]) -> InertElement {
    let questions: Vec<_> = fields.iter().filter(|field| !field.hidden).map(|field| question(field, fields)).collect();
    let hidden = fields.iter().filter(|field| field.hidden).count();
    let hidden =
        (hidden > 0).then(|| view! { <p class="meta">{format!("Not shown: {hidden}, answered by the link.")}</p> });
    let none = questions.is_empty().then(|| view! { <p class="meta">"No questions yet."</p> });
    let title = if title.trim().is_empty() { "Form without a title" } else { title }.to_owned();
    static_html(view! {
        <fieldset class="view-preview" disabled>
            <legend class="hidden-text">"Preview of the form"</legend>
            <p class="view-preview-title" dir="auto">{title}</p>
            <p class="view-preview-text" dir="auto">{introduction.to_owned()}</p>
            {questions}
            {none}
            {hidden}
        </fieldset>
    })
}

fn question(field: &Field, fields: &[Field]) -> InertElement {
    let optional = (!field.required).then(|| view! { <span class="meta">" (optional)"</span> });
    let condition = field.show_if.as_ref().map(|condition| {
        let asked = fields.iter().find(|other| other.key == condition.field);
        let asked = asked.map_or(&condition.field, |other| &other.label);
        view! { <p class="meta" dir="auto">{format!("Shown depending on the answer to: {asked}")}</p> }
    });
    let help = (!field.help.is_empty()).then(|| view! { <p class="field-hint" dir="auto">{field.help.clone()}</p> });
    let name = format!("preview-{}", field.key);
    let label = if field.label.is_empty() { "Question without a text".to_owned() } else { field.label.clone() };
    static_html(view! {
        <fieldset class="field">
            <legend class="field-label" dir="auto">{label}{optional}</legend>
            {condition}
            {help}
            {control(&name, field)}
        </fieldset>
    })
}

fn control(name: &str, field: &Field) -> InertElement {
    let chosen = |value: &str| match &field.default {
        Some(Value::Array(values)) => values.iter().any(|one| one == value),
        Some(Value::String(text)) => text == value,
        Some(other) => {
            let text = other.to_string();
            text == value
        }
        None => false,
    };
    match &field.kind {
        Kind::LongText { .. } => static_html(view! {
            <textarea class="input" rows="3" aria-label=field.label.clone()>{format!("\n{}", text(field))}</textarea>
        }),
        Kind::YesNo => choices(name, "radio", &[pair("true", "Yes"), pair("false", "No")], chosen),
        Kind::SingleChoice { options } => choices(name, "radio", options, chosen),
        Kind::MultipleChoice { options, .. } => choices(name, "checkbox", options, chosen),
        Kind::Scale { minimum, maximum, low_label, high_label } => {
            let step = |n: i64| {
                let meaning = match n {
                    n if n == *minimum => low_label.as_str(),
                    n if n == *maximum => high_label.as_str(),
                    _ => "",
                };
                let text = n.to_string();
                if meaning.is_empty() { pair(&text, &text) } else { pair(&text, &format!("{text} · {meaning}")) }
            };
            // A wrong scale has any number of steps.
            let steps: Vec<_> = (*minimum..=*maximum).take(101).map(step).collect();
            choices(name, "radio", &steps, chosen)
        }
        Kind::Rating { criteria_set, .. } => static_html(view! {
            <p class="meta">{format!("One answer for each dimension of the criteria set {criteria_set}.")}</p>
        }),
        Kind::Date => input("date", field),
        Kind::Email => input("email", field),
        Kind::Url => input("url", field),
        Kind::ShortText { .. } | Kind::Number { .. } | Kind::Integer { .. } | Kind::DateTime | Kind::Entity { .. } => {
            input("text", field)
        }
    }
}

fn text(field: &Field) -> String {
    match &field.default {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

fn input(kind: &'static str, field: &Field) -> InertElement {
    static_html(view! { <input class="input" type=kind value=text(field) aria-label=field.label.clone()/> })
}

fn pair(value: &str, label: &str) -> Choice {
    Choice { value: value.to_owned(), label: label.to_owned() }
}

fn choices(name: &str, kind: &'static str, options: &[Choice], chosen: impl Fn(&str) -> bool) -> InertElement {
    let each: Vec<_> = options
        .iter()
        .map(|option| {
            view! {
                <label class="choice">
                    <input type=kind name=name.to_owned() checked=chosen(&option.value)/>
                    <span dir="auto">{option.label.clone()}</span>
                </label>
            }
        })
        .collect();
    static_html(view! { <div class="view-choices">{each}</div> })
}
