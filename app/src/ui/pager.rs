//! Links to the other pages of a list that is shown newest first.

use super::button::ButtonLink;
use leptos::prelude::*;

/// Links to the newest and to older entries; nothing if the list has one page.
#[component]
pub fn Pager(
    /// The address of the newest entries; absent if they are shown.
    newest: Option<String>,
    /// The address of older entries; absent if there are none.
    older: Option<String>,
) -> impl IntoView {
    (newest.is_some() || older.is_some()).then(|| {
        view! {
            <nav class="pager" aria-label="Pages">
                {newest.map(|href| view! { <ButtonLink small=true href=href>"Newest"</ButtonLink> })}
                {older.map(|href| view! { <ButtonLink small=true attr:rel="next" href=href>"Older"</ButtonLink> })}
            </nav>
        }
    })
}
