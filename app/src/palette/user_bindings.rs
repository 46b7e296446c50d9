//! A person's own key bindings, in local storage. Only in the WASM build.

use super::{
    binding::{read, write},
    catalog::{Bindings, default_bindings},
};
use crate::browser::dom;
use leptos::prelude::{GetUntracked as _, RwSignal, Set as _};

const STORAGE_KEY: &str = "shiftbook-keys";

/// The bindings that this browser keeps.
pub fn stored() -> Bindings {
    read(&dom::stored(STORAGE_KEY).unwrap_or_default())
}

/// Follows changes in other tabs.
pub fn follow(bindings: RwSignal<Bindings>) {
    dom::on_stored(STORAGE_KEY, move || bindings.set(stored()));
}

/// Binds `pressed` to the shortcut at this index; `None` restores the default.
pub fn bind(bindings: RwSignal<Bindings>, at: usize, pressed: Option<String>) {
    let mut changed = bindings.get_untracked();
    let fresh = pressed.map_or_else(|| default_bindings().into_iter().nth(at).unwrap_or_default(), |key| vec![key]);
    if let Some(bound) = changed.get_mut(at) {
        *bound = fresh;
    }
    dom::store(STORAGE_KEY, Some(&write(&changed)));
    bindings.set(changed);
}
