//! A person's own key bindings, in local storage. Only in the WASM build.

use super::binding::{Bindings, defaults, read, write};
use crate::browser::dom;
use std::{cell::RefCell, rc::Rc};

const STORAGE_KEY: &str = "shiftbook-keys";

type Watcher = Rc<dyn Fn(&Bindings)>;

thread_local! {
    static BINDINGS: RefCell<Option<Bindings>> = const { RefCell::new(None) };
    static WATCHERS: RefCell<Vec<Watcher>> = const { RefCell::new(Vec::new()) };
}

/// Calls `look` with the current bindings.
pub fn with<T>(look: impl FnOnce(&Bindings) -> T) -> T {
    BINDINGS.with_borrow_mut(|bindings| look(bindings.get_or_insert_with(stored)))
}

/// Calls the watcher on every change, in this tab or another, and now if any binding differs from its default.
pub fn watch(watcher: impl Fn(&Bindings) + 'static) {
    let first = WATCHERS.with_borrow_mut(|all| {
        all.push(Rc::new(watcher));
        all.len() == 1
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
    BINDINGS.set(Some(bindings.clone()));
    for watcher in WATCHERS.with_borrow(Clone::clone) {
        watcher(&bindings);
    }
}
