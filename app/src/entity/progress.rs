//! Keeps the progress of an import, or an export, true while it is looked at.

use leptos::prelude::*;

/// Reads the progress again and again until the work has ended, then the whole page. Shows nothing itself.
#[island]
pub fn ImportProgress() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::progress_poll::start();
    view! { <span hidden></span> }
}
