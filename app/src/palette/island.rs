//! The island of the palette and of all keyboard shortcuts. It renders nothing; `dialog` renders the palette.

use leptos::prelude::*;

/// Mounted once, on every page with the shell.
#[island]
pub fn Palette() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::keyboard::start();
    view! { <span hidden></span> }
}
