//! The island attaches event handlers to the HTML that the server rendered.

use leptos::prelude::*;

/// The picker, the recorder and the marker dialog around its server-rendered children. Mounted once, in the rail.
#[island]
pub fn WorkingOn(children: Children) -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::start();
    children()
}
