//! The island of the inbox page. It attaches event handlers to the HTML that the server rendered.

use leptos::prelude::*;

/// The live updates, forms and shortcuts of the inbox page, and what screen readers are told about them. `query` is
/// the query with which the list is read.
#[island(lazy)]
pub fn LiveInbox(query: String) -> impl IntoView {
    let announcement = RwSignal::new(String::new());
    #[cfg(feature = "hydrate")]
    super::start(query, announcement);
    #[cfg(not(feature = "hydrate"))]
    drop(query);
    view! { <p class="hidden-text" id="inbox-announcement" role="status">{move || announcement.get()}</p> }
}
