//! The island keeps rows that the server rendered up to date.

use crate::fragment::{FragmentOfPage, Slot};
use leptos::prelude::*;

/// Updates every row inside that has a `data-session-id`. Rows stay HTML of the server: the words for each status never
/// ship.
#[island(lazy)]
pub fn LiveRows(children: Children) -> impl IntoView {
    let at = Slot::default();
    // The rows are there once the island is mounted.
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| super::start(at));
    view! { <FragmentOfPage at>{children()}</FragmentOfPage> }
}
