//! Pages that were left before they were recorded. The page's first script keeps them, because a page can be left
//! before the recorder has loaded or the database has answered. The next page of this browser records them. Only in the
//! WASM build.

use crate::browser::dom;
use wasm_bindgen::{JsCast as _, JsValue};

/// Local storage key of the list; `document::LEFT` writes it.
const LEFT_KEY: &str = "shiftbook-left";

/// A page that was left.
pub struct Left {
    /// The working session that was active.
    pub session_id: String,
    /// Path of the page.
    pub path: String,
    /// When the page began, RFC 3339.
    pub at: String,
    /// The event, if the recorder had made it; its id keeps it from being recorded twice.
    pub event: Option<String>,
}

/// Takes the pages of this owner from the list, oldest first.
pub fn take(owner: &str) -> Vec<Left> {
    let Some(stored) = dom::stored(LEFT_KEY) else { return Vec::new() };
    let list = js_sys::JSON::parse(&stored).ok().and_then(|list| list.dyn_into::<js_sys::Array>().ok());
    let list = list.unwrap_or_default();
    let is_own = |entry: &JsValue| dom::text(entry, "owner").as_deref() == Some(owner);
    let own = list.iter().filter(is_own).filter_map(|entry| of(&entry)).collect();
    // What no page has written is dropped.
    let is_others = |entry: &JsValue| dom::text(entry, "owner").is_some_and(|of| of != owner);
    let others: js_sys::Array = list.iter().filter(is_others).collect();
    let others = if others.length() > 0 { js_sys::JSON::stringify(&others).ok().map(String::from) } else { None };
    dom::store(LEFT_KEY, others.as_deref());
    own
}

fn of(entry: &JsValue) -> Option<Left> {
    let get = |name| dom::text(entry, name);
    // The session's id is the first line of what the picker showed as active.
    let session_id = get("active")?.lines().next()?.to_owned();
    Some(Left { session_id, path: get("path")?, at: get("at")?, event: get("event").filter(|event| !event.is_empty()) })
}
