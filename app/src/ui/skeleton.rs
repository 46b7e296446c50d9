//! The place of rows that are still being read.

use leptos::prelude::*;

/// Grey rows of the height that the real ones will have, so that nothing moves when they come. Screen readers get the
/// label instead.
#[component]
pub fn Skeleton(
    /// What is being read.
    label: &'static str,
    /// How many rows.
    #[prop(default = 3)]
    rows: u8,
) -> impl IntoView {
    let rows = (0..rows).map(|_| view! { <span class="skeleton-row" aria-hidden="true"></span> });
    view! {
        <div class="skeleton" role="status" aria-busy="true">
            <span class="hidden-text">{label}</span>
            {rows.collect::<Vec<_>>()}
        </div>
    }
}
