//! How a form looks to the people who answer it: the questions of the form's page, with the answers that it shows at
//! first. Nothing in a preview can be sent.

use crate::{
    form_page::{EntityOptions, questions},
    render::{static_html, to_html},
};
use domain::view::{Field, defaults};
use leptos::{prelude::*, tachys::html::InertElement};
use std::collections::HashSet;

/// The preview alone, which a script puts beside the editor.
pub fn preview_fragment(title: &str, introduction: &str, fields: &[Field]) -> String {
    to_html(preview(title, introduction, fields))
}

/// The form as its respondents see it.
pub fn preview(title: &str, introduction: &str, fields: &[Field]) -> InertElement {
    let fields = previewable(fields);
    let hidden = fields.iter().filter(|field| field.hidden).count();
    let none = (hidden == fields.len()).then(|| view! { <p class="meta">"No questions yet."</p> });
    let hidden =
        (hidden > 0).then(|| view! { <p class="meta">{format!("Not shown: {hidden}, answered by the link.")}</p> });
    let title = if title.trim().is_empty() { "Form without a title" } else { title }.to_owned();
    let asked = questions("", &fields, &defaults(&fields), &[], &EntityOptions::new());
    static_html(view! {
        <fieldset class="view-preview" disabled>
            <legend class="hidden-text">"Preview of the form"</legend>
            <p class="view-preview-title" dir="auto">{title}</p>
            <p class="view-preview-text" dir="auto">{introduction.to_owned()}</p>
            {asked}
            {none}
            {hidden}
        </fieldset>
    })
}

/// The fields as they can be shown while the form is being written: each has a text and a key of its own.
fn previewable(fields: &[Field]) -> Vec<Field> {
    let mut keys = HashSet::new();
    let one = |(at, field): (usize, &Field)| {
        let mut field = field.clone();
        if field.label.trim().is_empty() {
            field.label = "Question without a text".to_owned();
        }
        if field.key.is_empty() || !keys.insert(field.key.clone()) {
            field.key = format!("question-{}", at + 1);
        }
        field
    };
    fields.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: serde_json::Value) -> Vec<Field> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_preview_has_the_controls_of_the_form() {
        let fields = fields(json!([
            { "key": "mood", "label": "Mood?", "type": "scale", "minimum": 1, "maximum": 2, "default": 2 },
            { "key": "why", "label": "Why?", "type": "long_text", "help": "Briefly" },
        ]));
        let html = preview_fragment("Check", "", &fields);
        let asked = to_html(questions("", &fields, &defaults(&fields), &[], &EntityOptions::new()));
        assert!(html.contains(&asked), "{html}");
        assert!(html.starts_with("<fieldset") && html.contains("disabled"));
    }

    #[test]
    fn unfinished_questions_have_a_text_and_ids_of_their_own() {
        let unfinished = fields(json!([
            { "key": "", "label": " ", "type": "short_text" },
            { "key": "a", "label": "A", "type": "short_text" },
            { "key": "a", "label": "B", "type": "short_text" },
            { "key": "wide", "label": "W", "type": "scale", "minimum": 0, "maximum": 9_000_000_000_i64 },
        ]));
        let html = preview_fragment("", "", &unfinished);
        assert!(html.contains("Question without a text") && html.contains("Form without a title"));
        for id in ["f-question-1", "f-a", "f-question-3"] {
            assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}: {html}");
        }
        assert!(html.len() < 100_000, "a scale that is too wide is not written out");
    }
}
