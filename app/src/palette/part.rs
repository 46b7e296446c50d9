//! The entry of what is loaded late: the palette's list, and the list of shortcuts. Only in the WASM build.

use super::{list::Results, state::Keys};
use crate::browser::task::spawn_local;
use leptos::{mount::mount_to, prelude::*};

/// Shows the list in the palette's dialog.
#[lazy]
fn palette_dialog() {
    if let Some(keys) = Keys::of_page()
        && let Some(place) = keys.place.get_untracked()
    {
        mount_to(place.into(), move || view! { <Results keys/> }).forget();
    }
}

/// Loads the part, once.
pub fn load(keys: Keys) {
    if !keys.is_part_wanted.get_value() {
        keys.is_part_wanted.set_value(true);
        spawn_local(palette_dialog());
    }
}
