//! The island that keeps the rows of sessions and conversations current.

use leptos::prelude::*;

/// Updates every row of the page that has a `data-session-id`. Renders nothing.
#[island]
pub fn LiveRows() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::refresh::start();
    view! { <span hidden></span> }
}
