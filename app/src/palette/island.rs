//! The island: wakes the palette and every shortcut of the page. Shows nothing itself; `dialog` writes the palette.

use leptos::prelude::*;

/// Mounted once, on every page of the shell.
#[island]
pub fn Palette() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::keyboard::start();
    view! { <span hidden></span> }
}
