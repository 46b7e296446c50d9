//! Keeps the progress of an import or export current.

#[cfg(feature = "hydrate")]
use crate::browser::{dom, fetch, patch};
use leptos::prelude::*;
#[cfg(feature = "hydrate")]
use wasm_bindgen_futures::spawn_local;

/// Interval between two requests, in milliseconds.
#[cfg(feature = "hydrate")]
const POLL_EVERY_MS: i32 = 500;

/// Reads the progress until the work has ended, then reloads the page. Renders nothing.
#[island(lazy)]
pub fn ImportProgress() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    poll_later();
    view! { <span hidden></span> }
}

#[cfg(feature = "hydrate")]
fn poll_later() {
    dom::after(POLL_EVERY_MS, || spawn_local(poll()));
}

#[cfg(feature = "hydrate")]
async fn poll() {
    let Some(shown) = dom::by_id("import-progress") else { return };
    let Some(source) = shown.get_attribute("data-progress") else { return };
    if let Ok(html) = fetch::get_text(&source).await
        && let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next())
    {
        if !new.has_attribute("data-running") {
            // Only the whole page shows the result.
            let _ = dom::window().location().reload();
            return;
        }
        patch::update(&shown, &new);
    }
    poll_later();
}
