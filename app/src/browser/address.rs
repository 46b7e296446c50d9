//! The address of the page, and the reader's way through the history.

use super::dom;
use wasm_bindgen::JsValue;

/// The address of the page without host, query and fragment, such as `/inbox`.
pub fn path() -> String {
    dom::window().location().pathname().unwrap_or_default()
}

/// The query with its question mark; empty without one.
pub fn query() -> String {
    dom::window().location().search().unwrap_or_default()
}

/// The part of the page that the address names; empty if it names none.
pub fn fragment() -> String {
    dom::window().location().hash().unwrap_or_default().trim_start_matches('#').to_owned()
}

/// Changes the path. The page stays, and the path before it is a step back in the history.
pub fn push(path: &str) {
    if let Ok(history) = dom::window().history() {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(path));
    }
}

/// Changes the path and the query. The page stays, and no step is added to the history.
pub fn amend(path: &str) {
    if let Ok(history) = dom::window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(path));
    }
}

/// Loads another page.
pub fn open(address: &str) {
    let _ = dom::window().location().set_href(address);
}

/// Loads another page, which takes the place of this one in the history.
pub fn replace(address: &str) {
    let _ = dom::window().location().replace(address);
}

/// Loads the page again.
pub fn reload() {
    let _ = dom::window().location().reload();
}

/// Calls when the reader goes through the history, and also when a link to a part of the page is followed.
pub fn on_step(handle: impl FnMut() + 'static) {
    dom::when(&dom::window(), "popstate", handle);
}

/// Calls when the address names another part of the page.
pub fn on_fragment(handle: impl FnMut() + 'static) {
    dom::when(&dom::window(), "hashchange", handle);
}
