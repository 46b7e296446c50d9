//! A person's own key bindings, in local storage. Only in the WASM build.

use super::{
    binding::{Bindings, defaults, read, write},
    state,
};
use crate::browser::dom;
use std::rc::Rc;

const STORAGE_KEY: &str = "shiftbook-keys";

/// Calls `look` with the current bindings.
pub fn with<T: Default>(look: impl FnOnce(&Bindings) -> T) -> T {
    state::with(|state| look(state.bindings.get_or_insert_with(stored)))
}

/// Calls the watcher on every change, in this tab or another, and now if any binding differs from its default.
pub fn watch(watcher: impl Fn(&Bindings) + 'static) {
    let first = state::with(|state| {
        state.watchers.push(Rc::new(watcher));
        state.watchers.len() == 1
    });
    if first {
        dom::on(&dom::window(), "storage", |event: web_sys::StorageEvent| {
            if event.key().as_deref() == Some(STORAGE_KEY) {
                tell(stored());
            }
        });
    }
    let bindings = with(Clone::clone);
    if bindings != defaults() {
        tell(bindings);
    }
}

/// Binds `keys` to the shortcut at this index; `None` restores the default.
pub fn bind(at: usize, keys: Option<String>) {
    let mut bindings = with(Clone::clone);
    let fresh = keys.map_or_else(|| defaults().into_iter().nth(at).unwrap_or_default(), |keys| vec![keys]);
    if let Some(bound) = bindings.get_mut(at) {
        *bound = fresh;
    }
    dom::store(STORAGE_KEY, Some(&write(&bindings)));
    tell(bindings);
}

fn stored() -> Bindings {
    read(&dom::stored(STORAGE_KEY).unwrap_or_default())
}

fn tell(bindings: Bindings) {
    let watchers = state::with(|state| {
        state.bindings = Some(bindings.clone());
        state.watchers.clone()
    });
    for watcher in watchers {
        watcher(&bindings);
    }
}
