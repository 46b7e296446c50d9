//! Keys, as they stand on a keyboard.

use super::binding::shown;
use leptos::prelude::*;

/// The keys of one shortcut; several ways to press it stand beside each other.
pub fn keys_view(bindings: &[String]) -> impl IntoView + use<> {
    let ways = bindings.iter().enumerate().map(|(at, binding)| {
        let or = (at > 0).then(|| view! { <span class="meta">"or"</span> });
        let keys = shown(binding).into_iter().map(|key| view! { <kbd>{key}</kbd> }).collect_view();
        (or, keys)
    });
    ways.collect_view()
}
