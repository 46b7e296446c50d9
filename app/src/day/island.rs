//! Keeps the section about the day up to date in the browser.

use crate::fragment::{FragmentOfPage, Slot};
use leptos::prelude::*;

/// Reads the day again when the page opens, because only the browser knows when the person's day began, and whenever
/// their working session changes. The section stays HTML of the server, which formats its durations and rows. It names
/// its query in `data-detail`.
#[island(lazy)]
pub fn LiveDay(children: Children) -> impl IntoView {
    let at = Slot::default();
    #[cfg(feature = "hydrate")]
    follow(at);
    view! { <FragmentOfPage at>{children()}</FragmentOfPage> }
}

/// Keeps the section at this place current.
#[cfg(feature = "hydrate")]
pub fn follow(at: Slot) {
    use crate::working_on::{Active, Work};
    Effect::new(move |_| {
        let active = Work::of_page().and_then(|work| work.active.get());
        if active.as_ref().is_none_or(Active::is_confirmed) {
            crate::browser::task::spawn_local(read(at));
        }
    });
}

#[cfg(feature = "hydrate")]
async fn read(at: Slot) {
    use crate::browser::{patch, times};
    let Some(old) = at.find("[data-detail]") else { return };
    let detail = old.get_attribute("data-detail").unwrap_or_default();
    let address = ["/working-on/day?detail=", &detail, "&timezone=", &times::zone()].concat();
    if let Some(new) = crate::fragment::read(&address).await {
        patch::update(&old, &new);
    }
}
