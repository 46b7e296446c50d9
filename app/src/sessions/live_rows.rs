//! Keeps the rows of a session table true while it is looked at.

use leptos::prelude::*;

/// Watches every row of the page that carries a `data-session-id`. Shows nothing itself.
#[island]
pub fn LiveRows() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::refresh::start();
    view! { <span hidden></span> }
}
