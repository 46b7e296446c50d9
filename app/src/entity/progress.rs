//! Keeps the progress of an import or export current.

use crate::fragment::{FragmentOfPage, Slot};
#[cfg(feature = "hydrate")]
use crate::{
    browser::{dom, patch, task::spawn_local},
    fragment,
};
use leptos::prelude::*;

/// Interval between two requests, in milliseconds.
#[cfg(feature = "hydrate")]
const POLL_EVERY_MS: i32 = 500;

/// Reads the progress until the work has ended, then reloads the page. The progress stays HTML of the server, because
/// the page without scripts shows the same bar and counts. It names its address in `data-progress`.
#[island(lazy)]
pub fn ImportProgress(children: Children) -> impl IntoView {
    let at = Slot::default();
    #[cfg(feature = "hydrate")]
    poll_later(at);
    view! { <FragmentOfPage at>{children()}</FragmentOfPage> }
}

#[cfg(feature = "hydrate")]
fn poll_later(at: Slot) {
    dom::after(POLL_EVERY_MS, move || spawn_local(poll(at)));
}

#[cfg(feature = "hydrate")]
async fn poll(at: Slot) {
    let Some(shown) = at.find("[data-progress]") else { return };
    let address = shown.get_attribute("data-progress").unwrap_or_default();
    if let Some(new) = fragment::read(&address).await {
        if !new.has_attribute("data-running") {
            // Only the whole page shows the result.
            let _ = dom::window().location().reload();
            return;
        }
        patch::update(&shown, &new);
    }
    poll_later(at);
}
