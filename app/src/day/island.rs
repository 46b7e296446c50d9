//! Keeps the section about the day up to date in the browser.

use leptos::prelude::*;

/// Reads the day again when the page opens, because only the browser knows when the person's day began, and whenever
/// their working session changes. `detail` is the query of the fragment.
#[island]
pub fn LiveDay(detail: String, children: Children) -> impl IntoView {
    let section = NodeRef::<leptos::html::Div>::new();
    #[cfg(feature = "hydrate")]
    {
        use crate::{
            browser::{fetch, patch, times},
            working_on::{Active, Work},
        };
        let read = move || {
            let url = ["/working-on/day?detail=", &detail, "&timezone=", &times::zone()].concat();
            wasm_bindgen_futures::spawn_local(async move {
                let Ok(html) = fetch::get_text(&url).await else { return };
                let new = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next());
                let old = section.get_untracked().and_then(|section| crate::browser::dom::find(&section, "section"));
                if let (Some(old), Some(new)) = (old, new) {
                    patch::update(&old, &new);
                }
            });
        };
        Effect::new(move |_| {
            let active = Work::of_page().and_then(|work| work.active.get());
            if active.as_ref().is_none_or(Active::is_confirmed) {
                read();
            }
        });
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = detail;
    view! { <div node_ref=section>{children()}</div> }
}
