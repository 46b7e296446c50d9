//! The editor of a criteria set: a form that works without scripts, with a row for each dimension and some empty
//! rows.
//!
//! Fields: `version`, `name`, `slug` (new sets only), `description`; for each row `dimensions[N].name`, `.slug`,
//! `.type`, `.description`, `.options` (one per line), `.min`, `.max`; and `try.SLUG`. `do` is `save` or `preview`. A
//! row without a name is ignored.

use super::{
    option_lines,
    preview::{Preview, try_fields, verdict},
};
use crate::{
    FormState,
    form::row_number,
    render::static_html,
    ui::{
        button::{Button, Look},
        field::{Field, Input, Select, TextArea},
        notice::Refused,
    },
};
use domain::{
    criteria_set::{Dimension, DimensionKind},
    limit::CRITERIA_DIMENSIONS_MAX,
};
use leptos::prelude::*;
use wire::criteria_set::CriteriaSet;

/// Number of empty rows for new dimensions.
const EMPTY_ROWS: usize = 2;
const PARTS: [&str; 7] = ["name", "slug", "type", "description", "options", "min", "max"];
const LIST: &str = "dimensions";

/// The label of a dimension kind.
pub const fn kind_word(kind: DimensionKind) -> &'static str {
    match kind {
        DimensionKind::Select => "Choice",
        DimensionKind::Text => "Text",
        DimensionKind::Number => "Number",
        DimensionKind::Scale => "Scale",
    }
}

/// The form; without a set it creates one. `preview` is the result of the last preview with this form.
pub fn editor(set: Option<&CriteriaSet>, preview: Option<&Preview>, form: &FormState) -> impl IntoView + use<> {
    let dimensions = set.map_or(&[][..], |set| &set.dimensions);
    let typed = form.values.keys().filter_map(|key| row_number(LIST, key)).max().map_or(0, |last| last + 1);
    let rows = (dimensions.len() + EMPTY_ROWS).max(typed).min(CRITERIA_DIMENSIONS_MAX.max(dimensions.len()));
    let names: Vec<String> = (0..rows).flat_map(|row| PARTS.map(|part| name(row, part))).collect();
    let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
    known.extend(["name", "slug", "description"]);
    let list = (0..rows).map(|row| dimension_row(row, dimensions.get(row), form)).collect::<Vec<_>>();
    let target = set.map_or_else(|| "/criteria-sets".to_owned(), |set| format!("/criteria-sets/{}", set.id));
    let slug = set.is_none().then(|| {
        static_html(view! { <Input scope="edit" field=Field::new("slug", "Slug").hint("Created from the name if left empty. It cannot be changed later.") form=form/> })
    });
    let tried = preview.map_or(dimensions, |preview| &preview.dimensions);
    // Without any option the preview shows only the errors to correct.
    let trying = (!tried.is_empty()).then(|| {
        view! {
            <fieldset class="criteria-row">
                <legend class="meta">"Try it before saving"</legend>
                {try_fields("edit", tried, form)}
                {preview.map(verdict)}
            </fieldset>
        }
    });
    let text = |get: fn(&CriteriaSet) -> &str| set.map(get).unwrap_or_default().to_owned();
    let save = if set.is_some() { "Save new version" } else { "Create criteria set" };
    view! {
        <form class="form criteria-form" method="post" action=target>
            <Refused messages=form.general(&known)/>
            {set.map(|set| view! { <input type="hidden" name="version" value=set.version.to_string()/> })}
            <div class="form-row">
                <Input scope="edit" field=Field::new("name", "Name").required() value=text(|s| &s.name) form=form/>
                {slug}
            </div>
            <TextArea scope="edit" field=Field::new("description", "Purpose") value=text(|s| &s.description) form=form/>
            <p class="meta">
                "Dimensions are checked from top to bottom. A dimension without a name is removed. After saving, there are more empty rows."
            </p>
            {list}
            {trying}
            <div class="form-actions">
                <Button name="do" value="save" look=Look::Primary>{save}</Button>
                <Button name="do" value="preview" attr:formaction=preview_target(set)>"Preview"</Button>
                <span class="meta">"A preview saves nothing."</span>
            </div>
        </form>
    }
}

/// The fragment of the preview's result, so that the page scrolls to it.
fn preview_target(set: Option<&CriteriaSet>) -> String {
    set.map_or_else(|| "/criteria-sets#verdict".to_owned(), |set| format!("/criteria-sets/{}#verdict", set.id))
}

fn name(row: usize, part: &str) -> String {
    format!("{LIST}[{row}].{part}")
}

fn dimension_row(row: usize, dimension: Option<&Dimension>, form: &FormState) -> impl IntoView + use<> {
    let text = |get: fn(&Dimension) -> &str| dimension.map(get).unwrap_or_default().to_owned();
    let [names, slugs, types, descriptions, options, mins, maxs] = PARTS.map(|part| name(row, part));
    let kinds = DimensionKind::ALL.into_iter().map(|k| (k.as_str().to_owned(), kind_word(k).to_owned())).collect();
    let lines = dimension.map(|d| option_lines::write(&d.options)).unwrap_or_default();
    let end = |get: fn(&Dimension) -> Option<f64>| dimension.and_then(get).map(|n| n.to_string()).unwrap_or_default();
    let legend = dimension
        .map_or_else(|| format!("New dimension {}", row + 1), |d| format!("Dimension {}: {}", row + 1, d.name));
    let option_hint = "For a choice: one option per line, as value | label | style | score | hard block. Style is neutral, positive, caution or negative. Only the value is required.";
    view! {
        <fieldset class="criteria-row">
            <legend class="meta">{legend}</legend>
            <div class="form-row">
                <Input scope="edit" field=Field::new(&names, "Dimension") value=text(|d| &d.name) form=form/>
                <Input scope="edit" field=Field::new(&slugs, "Slug").hint("The key of this value in an output. Created from the name if left empty.") value=text(|d| &d.slug) form=form/>
                <Select scope="edit" field=Field::new(&types, "Type of answer") options=kinds value=dimension.map_or("select", |d| d.kind.as_str()) form=form/>
            </div>
            <TextArea scope="edit" field=Field::new(&options, "Options").hint(option_hint) json=true value=&lines form=form/>
            <div class="form-row">
                <TextArea scope="edit" field=Field::new(&descriptions, "What to check") rows=2 value=text(|d| &d.description) form=form/>
                <Input scope="edit" field=Field::new(&mins, "Minimum").hint("For a number or scale.") value=end(|d| d.min) form=form/>
                <Input scope="edit" field=Field::new(&maxs, "Maximum").hint("For a number or scale.") value=end(|d| d.max) form=form/>
            </div>
        </fieldset>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn what_to_check_keeps_its_lines() {
        let dimension = Dimension {
            slug: "tone".into(),
            name: "Tone".into(),
            kind: DimensionKind::Text,
            description: "Is it polite?\nIs it short?".into(),
            options: Vec::new(),
            min: None,
            max: None,
        };
        let html = to_html(dimension_row(0, Some(&dimension), &FormState::default()));
        assert!(html.contains("\nIs it polite?\nIs it short?</textarea>"), "{html}");
        assert!(html.contains("name=\"dimensions[0].description\""), "{html}");
    }
}
