//! The element of an item, which is HTML of the server. Only in the WASM build.

use super::store::Store;
use crate::browser::{dom::HtmlElement, patch};

/// The shown item; `None` while it loads, and if there is none.
pub fn current_item(store: Store) -> Option<HtmlElement> {
    store.detail.child().filter(|item| item.has_attribute("data-id"))
}

/// The id of an item's element.
pub fn id_of(item: &HtmlElement) -> String {
    item.get_attribute("data-id").unwrap_or_default()
}

/// The element that an answer consists of.
pub fn parse(html: &str) -> Option<HtmlElement> {
    patch::parse(html).and_then(|fragment| patch::children(&fragment).into_iter().next())
}
