//! The island: wakes the recorder, the picker and the marker. Its children are HTML from the server and stay so.

use leptos::prelude::*;

/// Mounted once, in the rail.
#[island]
pub fn WorkingOn(children: Children) -> impl IntoView {
    #[cfg(feature = "hydrate")]
    super::control::start();
    children()
}
