//! The state of keys and palette on one page. Only in the WASM build.

use super::{binding::Bindings, catalog::Command};
use leptos::prelude::{LocalStorage, StoredValue, UpdateValue as _};
use std::{collections::VecDeque, rc::Rc, sync::OnceLock};
use web_sys::HtmlElement;

/// Is told the bindings whenever they change.
pub type Watcher = Rc<dyn Fn(&Bindings)>;

/// What keys and palette know on one page.
#[derive(Default)]
pub struct State {
    /// Shortcuts that wait until the islands that handle them work.
    pub waiting: VecDeque<Command>,
    /// The person's bindings, once they were read.
    pub bindings: Option<Bindings>,
    /// Who is told the bindings.
    pub watchers: Vec<Watcher>,
    /// The button that waits for a key press, with the index of its shortcut.
    pub recording: Option<(usize, HtmlElement)>,
    /// Whether the handlers of the settings page are attached.
    pub is_recorder_attached: bool,
    /// Whether the page does not show the current bindings yet. The server renders the defaults.
    pub is_outdated: bool,
    /// Whether the handlers of the palette are attached.
    pub is_palette_attached: bool,
    /// Whether the palette was opened and its list is still that of before.
    pub is_opened: bool,
    /// Keys of the palette that choose and run, not handled yet.
    pub keys: Vec<String>,
}

static OF_PAGE: OnceLock<StoredValue<State, LocalStorage>> = OnceLock::new();

/// Makes the state of the page. The palette's island owns it.
pub fn start() {
    let _ = OF_PAGE.set(StoredValue::new_local(State::default()));
}

/// Reads or changes the state. `with` must not come back here.
pub fn with<T: Default>(with: impl FnOnce(&mut State) -> T) -> T {
    OF_PAGE.get().and_then(|state| state.try_update_value(with)).unwrap_or_default()
}
