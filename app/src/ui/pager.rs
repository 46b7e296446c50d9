//! Links to the other pages of a list, and what one page of a search looks at.

use super::button::ButtonLink;
use crate::text::number;
use leptos::prelude::*;

/// Links to the newest and to older entries, or to the first and the next ones; nothing if the list has one page.
#[component]
pub fn Pager(
    /// The address of the newest entries; absent if they are shown.
    newest: Option<String>,
    /// The address of older entries; absent if there are none.
    older: Option<String>,
    /// Whether the list has another order than newest first.
    #[prop(optional)]
    is_sorted: bool,
) -> impl IntoView {
    let [first, next] = if is_sorted { ["First", "Next"] } else { ["Newest", "Older"] };
    (newest.is_some() || older.is_some()).then(|| {
        view! {
            <nav class="pager" aria-label="Pages">
                {newest.map(|href| view! { <ButtonLink small=true href=href>{first}</ButtonLink> })}
                {older.map(|href| view! { <ButtonLink small=true attr:rel="next" href=href>{next}</ButtonLink> })}
            </nav>
        }
    })
}

/// A link to the next page of a list that has no other order; nothing without its address.
pub fn more(next: Option<String>) -> Option<impl IntoView + use<>> {
    next.map(|href| {
        view! { <nav class="pager" aria-label="Pages"><ButtonLink small=true attr:rel="next" href=href>"More"</ButtonLink></nav> }
    })
}

/// Says how many titles one page of a search looks at, for a search that continues with the next page.
pub fn looked_at(max: u32, what: &'static str) -> impl IntoView {
    let count = number::grouped(max.into());
    let sentence = format!("A page looks at the titles of at most {count} {what}. The next page looks at older ones.");
    view! { <p class="meta">{sentence}</p> }
}
