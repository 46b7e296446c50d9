//! The island that keeps the progress of an import or export current.

use leptos::prelude::*;

/// Reads the progress until the work has ended, then reloads the page. Renders nothing.
#[island]
pub fn ImportProgress() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::progress_poll::start();
    view! { <span hidden></span> }
}
