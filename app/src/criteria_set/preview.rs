//! Previews a criteria set: the reader chooses values, and the server evaluates the safety gate.

use crate::{
    FormState,
    render::static_html,
    ui::{
        field::{Field, Select},
        notice::{Notice, Tone},
    },
};
use domain::criteria_set::{Dimension, DimensionKind, SafetyGate};
use leptos::prelude::*;

/// The value for "no value". It cannot be an option, because options are not empty.
pub const NO_VALUE: &str = "";

/// A preview and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The dimensions that were evaluated.
    pub dimensions: Vec<Dimension>,
    /// The result of the safety gate.
    pub verdict: SafetyGate,
}

/// The name of the form field for a dimension's value.
pub fn try_name(slug: &str) -> String {
    format!("try.{slug}")
}

/// A select for each dimension of kind select.
pub fn try_fields(scope: &str, dimensions: &[Dimension], form: &FormState) -> impl IntoView + use<> {
    let selects = dimensions.iter().filter(|d| d.kind == DimensionKind::Select && !d.slug.is_empty());
    let fields = selects
        .map(|dimension| {
            let mut options = vec![(NO_VALUE.to_owned(), "Nothing".to_owned())];
            options.extend(dimension.options.iter().map(|option| (option.value.clone(), option.label.clone())));
            let name = try_name(&dimension.slug);
            static_html(view! { <Select scope=scope field=Field::new(&name, &dimension.name) options=options value=NO_VALUE form=form/> })
        })
        .collect::<Vec<_>>();
    view! { <div class="form-row criteria-try">{fields}</div> }
}

/// The result of the safety gate, as text.
pub fn verdict(preview: &Preview) -> impl IntoView + use<> {
    let name = |slug: &str| {
        let found = preview.dimensions.iter().find(|d| d.slug == slug);
        found.map_or_else(|| slug.to_owned(), |d| d.name.clone())
    };
    let (tone, head, lines) = match &preview.verdict {
        blocked @ SafetyGate::Blocked { dimension, .. } => {
            let why = blocked.refusal().unwrap_or_default();
            (Tone::Bad, format!("Blocked by {}", name(dimension)), vec![why])
        }
        SafetyGate::Passed { score, flags } => {
            let score = score.map_or_else(|| "none".to_owned(), |score| format!("{score:.2}"));
            let flags = if flags.is_empty() { "none".to_owned() } else { flags.join(", ") };
            (Tone::Good, "Passes".to_owned(), vec![format!("Score: {score}"), format!("Flags: {flags}")])
        }
    };
    let lines = lines.into_iter().map(|line| view! { <p>{line}</p> }).collect::<Vec<_>>();
    static_html(view! {
        <Notice tone=tone attr:id="verdict"><p><strong>{head}</strong></p>{lines}</Notice>
    })
}
