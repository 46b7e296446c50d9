//! Chips: small links that narrow a page or lead to a part of it.

use crate::render::static_html;
use leptos::{prelude::*, tachys::html::InertElement};

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

/// What narrows a page: a chip for each condition, `(text, address without it)`. Choosing one removes it. Nothing for
/// no condition.
pub fn chips(set: Vec<(String, String)>, label: &'static str) -> Option<impl IntoView + use<>> {
    if set.is_empty() {
        return None;
    }
    let chip = |(text, href): (String, String)| {
        view! {
            <li>
                <Chip href=href>
                    <span class="hidden-text">"Remove "</span>
                    <bdi class="chip-text">{text}</bdi>
                    <span aria-hidden="true">"×"</span>
                </Chip>
            </li>
        }
    };
    let set = set.into_iter().map(chip).collect::<Vec<_>>();
    Some(view! { <ul class="chips chips-set" aria-label=label>{set}</ul> })
}

/// The number of sessions behind a name, and whether there can be more.
pub fn session_count((number, has_more): (usize, bool)) -> InertElement {
    let more = if has_more { "+" } else { "" };
    let word = if number == 1 && !has_more { " session" } else { " sessions" };
    static_html(view! {
        <span class="hidden-text">", "</span>
        <span class="chip-count">{format!("{number}{more}")}</span>
        <span class="hidden-text">{word}</span>
    })
}
