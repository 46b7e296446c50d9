//! The island attaches event handlers to the HTML that the server rendered.

use leptos::prelude::*;

/// The live updates, forms and shortcuts of the inbox page.
#[island(lazy)]
pub fn LiveInbox() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::start();
    view! { <span hidden></span> }
}
