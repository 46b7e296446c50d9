//! The island attaches event handlers to the HTML that the server rendered.

use leptos::prelude::*;

/// Updates every row of the page that has a `data-session-id`, and an open conversation.
#[island(lazy)]
pub fn LiveRows() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::start();
    view! { <span hidden></span> }
}
