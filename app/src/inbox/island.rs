//! The island of the inbox. It attaches event handlers to the server-rendered page and renders nothing.

use leptos::prelude::*;

/// Mounted once, on the inbox page.
#[island]
pub fn InboxKeys() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::triage::start();
    view! { <span hidden></span> }
}
