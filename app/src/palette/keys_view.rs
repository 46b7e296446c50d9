//! The keys of a shortcut.

use super::catalog::display_keys;
use leptos::prelude::*;

/// The keys of one shortcut; alternatives are shown side by side.
pub fn keys_view(ways: &[String]) -> impl IntoView + use<> {
    let ways = ways.iter().enumerate().map(|(at, binding)| {
        let or = (at > 0).then(|| view! { <span class="meta">"or"</span> });
        let keys = display_keys(binding).into_iter().map(|key| view! { <kbd>{key}</kbd> }).collect_view();
        view! { {or}{keys} }
    });
    ways.collect_view()
}
