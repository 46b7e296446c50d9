//! Links between the views of a page. Each view has an address, so these are links and not the tabs of a script.

use super::chip::Chip;
use leptos::prelude::*;

/// A link to one view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    label: String,
    href: String,
    is_here: bool,
}

impl Tab {
    /// A link to a view. `is_here` marks the one that is shown.
    pub fn new(label: impl Into<String>, href: impl Into<String>, is_here: bool) -> Self {
        Self { label: label.into(), href: href.into(), is_here }
    }
}

/// The links, side by side.
#[component]
pub fn Tabs(
    /// What the views differ in: the name of the list for screen readers.
    label: &'static str,
    /// The links.
    tabs: Vec<Tab>,
) -> impl IntoView {
    let links = tabs.into_iter().map(|Tab { label, href, is_here }| {
        view! { <li><Chip href=href is_here=is_here>{label}</Chip></li> }
    });
    view! { <nav aria-label=label><ul class="chips">{links.collect::<Vec<_>>()}</ul></nav> }
}
