//! The place of what is still being read.

#[cfg(feature = "ssr")]
use leptos::prelude::*;

/// Three grey rows of the height that the real ones will have, so that nothing moves when they come. Screen readers get
/// none of them. An island puts them in beside a label of its own.
pub const ROWS: &str = "<span class=\"skeleton-row\" aria-hidden=\"true\"></span>\
    <span class=\"skeleton-row\" aria-hidden=\"true\"></span><span class=\"skeleton-row\" aria-hidden=\"true\"></span>";

/// The rows, with a label for screen readers.
#[cfg(feature = "ssr")]
#[component]
pub fn Skeleton(
    /// What is being read.
    label: &'static str,
) -> impl IntoView {
    view! {
        <div class="skeleton" role="status" aria-busy="true">
            <span class="hidden-text">{label}</span>
            <div class="fragment" inner_html=ROWS></div>
        </div>
    }
}
