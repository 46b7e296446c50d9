//! Trying a set out: choose values, see what the safety gate says. The verdict comes from the server.

use crate::{
    FormState,
    document::solid,
    ui::{
        field::{Field, select},
        icon::{Icon, icon},
    },
};
use domain::criteria::{Dimension, DimensionKind, SafetyGate};
use leptos::prelude::*;

/// Stands for "the output says nothing"; options are never called that, because they have no space around them.
pub const NO_VALUE: &str = "";

/// What was tried, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The dimensions that were evaluated.
    pub dimensions: Vec<Dimension>,
    /// What the gate says.
    pub verdict: SafetyGate,
}

/// The name of the form field with a dimension's value.
pub fn try_name(slug: &str) -> String {
    format!("try.{slug}")
}

/// A control for each select dimension.
pub fn try_fields(scope: &str, dimensions: &[Dimension], form: &FormState) -> impl IntoView + use<> {
    let selects = dimensions.iter().filter(|d| d.kind == DimensionKind::Select && !d.slug.is_empty());
    let fields = selects
        .map(|dimension| {
            let mut options = vec![(NO_VALUE.to_owned(), "Nothing".to_owned())];
            options.extend(dimension.options.iter().map(|option| (option.value.clone(), option.label.clone())));
            let name = try_name(&dimension.slug);
            select(scope, Field::new(&name, &dimension.name), options, NO_VALUE, form)
        })
        .collect::<Vec<_>>();
    view! { <div class="form-row criteria-try">{fields}</div> }
}

/// What the gate says, in words.
pub fn verdict(preview: &Preview) -> impl IntoView + use<> {
    let name = |slug: &str| {
        let found = preview.dimensions.iter().find(|d| d.slug == slug);
        found.map_or_else(|| slug.to_owned(), |d| d.name.clone())
    };
    let (tone, picture, head, lines) = match &preview.verdict {
        blocked @ SafetyGate::Blocked { dimension, .. } => {
            let why = blocked.refusal().unwrap_or_default();
            ("bad", Icon::Failed, format!("Blocked by {}", name(dimension)), vec![why])
        }
        SafetyGate::Passed { score, flags } => {
            let score = score.map_or_else(|| "none".to_owned(), |score| format!("{score:.2}"));
            let flags = if flags.is_empty() { "none".to_owned() } else { flags.join(", ") };
            ("good", Icon::Completed, "Passes".to_owned(), vec![format!("Score: {score}"), format!("Flags: {flags}")])
        }
    };
    let lines = lines.into_iter().map(|line| view! { <p>{line}</p> }).collect::<Vec<_>>();
    solid(view! {
        <div class="notice criteria-verdict" data-tone=tone role="status" id="verdict">
            {icon(picture)}
            <div class="notice-body"><p><strong>{head}</strong></p>{lines}</div>
        </div>
    })
}
