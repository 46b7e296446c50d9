//! Islands without a view of their own: they attach event handlers to the HTML that the server rendered.
//!
//! Islands that render something are next to their page.

use leptos::prelude::*;

/// The live updates, forms and shortcuts of the inbox page.
#[island]
pub fn LiveInbox() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    crate::inbox::start();
    view! { <span hidden></span> }
}

/// Updates every row of the page that has a `data-session-id`, and an open conversation.
#[island]
pub fn LiveRows() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    crate::sessions::start();
    view! { <span hidden></span> }
}

/// The palette and all keyboard shortcuts. Mounted once, on every page with the shell.
#[island]
pub fn Palette() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    crate::palette::start();
    view! { <span hidden></span> }
}

/// The picker, the recorder and the marker dialog around its server-rendered children. Mounted once, in the rail.
#[island]
pub fn WorkingOn(children: Children) -> impl IntoView {
    #[cfg(feature = "hydrate")]
    crate::working_on::start();
    children()
}
