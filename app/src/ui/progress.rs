//! How far a long operation is.

use leptos::prelude::*;

/// A bar. Without a total it shows only that something goes on.
#[component]
pub fn Progress(
    /// What is counted: the name of the bar for screen readers.
    label: &'static str,
    /// How much is done.
    done: u64,
    /// How much there is; unknown at first.
    #[prop(optional_no_strip)]
    total: Option<u64>,
) -> impl IntoView {
    // A bar of nothing is full, so that an empty operation does not look unfinished.
    let (max, value) = match total {
        Some(0) => (Some(1), Some(1)),
        Some(total) => (Some(total), Some(done.min(total))),
        None => (None, None),
    };
    view! {
        <progress
            class="progress"
            max=max.map(|max: u64| max.to_string())
            value=value.map(|value: u64| value.to_string())
            aria-label=label
        ></progress>
    }
}
