//! A value before and after a change.

use leptos::prelude::*;

/// The old value, an arrow and the new value. Either can be absent.
#[component]
pub fn Diff(
    /// The old value.
    before: Option<String>,
    /// The new value.
    after: Option<String>,
) -> impl IntoView {
    let after = match after {
        Some(text) => view! { <ins dir="auto">{text}</ins> }.into_any(),
        None => view! { <span class="meta">"no value"</span> }.into_any(),
    };
    view! {
        <span class="diff">
            {before.map(|text| view! { <del dir="auto">{text}</del> })}
            <span aria-hidden="true">"→"</span>
            <span class="hidden-text">" changed to "</span>
            {after}
        </span>
    }
}
