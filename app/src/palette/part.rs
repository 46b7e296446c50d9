//! The entry of what is loaded late: the palette's list, and the list of shortcuts.

#[cfg(feature = "hydrate")]
use super::list::Results;
use super::state::Keys;
#[cfg(feature = "hydrate")]
use crate::browser::task::spawn_local;
#[cfg(feature = "hydrate")]
use leptos::{mount::mount_to, prelude::*};

/// Shows the list in the palette's dialog.
#[cfg(feature = "hydrate")]
#[lazy]
fn palette_dialog() {
    if let Some(keys) = Keys::of_page()
        && let Some(place) = keys.place.get_untracked()
    {
        mount_to(place.into(), move || view! { <Results keys/> }).forget();
    }
}

/// Loads the part, once. On the server nothing happens.
pub fn load(keys: Keys) {
    #[cfg(feature = "hydrate")]
    if !keys.is_part_wanted.get_value() {
        keys.is_part_wanted.set_value(true);
        spawn_local(palette_dialog());
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = keys;
}
