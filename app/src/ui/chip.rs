//! Chips: small links that narrow a page or lead to a part of it.

use leptos::prelude::*;

/// A link with a rounded frame.
#[component]
pub fn Chip(
    /// The address.
    #[prop(into)]
    href: String,
    /// Whether its target is the shown page.
    #[prop(optional)]
    is_here: bool,
    /// The label.
    children: Children,
) -> impl IntoView {
    view! { <a class="chip" href=href aria-current=is_here.then_some("true")>{children()}</a> }
}
