//! The entry of what is loaded late: the palette's list, and showing and recording bindings. One part, because most of
//! its code is shared. Only in the WASM build.

use super::{rebind, search};
use crate::browser::task::spawn_local;
use leptos::prelude::lazy;

/// Brings the palette and the lists of bindings up to date with what happened since the last call.
#[lazy]
fn palette_dialog() {
    rebind::catch_up();
    search::catch_up();
}

/// Loads the part if it is not there yet, and brings the page up to date.
pub fn catch_up() {
    spawn_local(palette_dialog());
}
