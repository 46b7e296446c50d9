//! The island attaches event handlers to the HTML that the server rendered.

use leptos::prelude::*;

/// The palette and all keyboard shortcuts. Mounted once, on every page with the shell.
#[island]
pub fn Palette() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::start();
    view! { <span hidden></span> }
}
