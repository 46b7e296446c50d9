//! The island: wakes the page that the server has written. Shows nothing itself.

use leptos::prelude::*;

/// Mounted once, on the inbox.
#[island]
pub fn InboxKeys() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::triage::start();
    view! { <span hidden></span> }
}
