//! Shows in the bar of an item how long its decision can be undone. Only in the WASM build.

use super::{
    item_element::{current_item, id_of},
    store::Store,
};
use crate::browser::dom;
use leptos::prelude::Effect;

/// Counts the seconds of the page.
pub fn start(store: Store) {
    dom::every(1_000, move || store.count_down());
    Effect::new(move |_| show(store));
}

/// The bar is HTML of the server, which says in `data-left` how many seconds were left.
fn show(store: Store) {
    let id = current_item(store).map(|item| id_of(&item)).unwrap_or_default();
    let form = store.detail.find("[data-left]");
    let left = form.as_ref().and_then(|form| dom::figure(&form.get_attribute("data-left")?));
    let left = store.held_seconds_left(left.map(|left| (id, left as u32)));
    let Some(form) = form else { return };
    form.set_hidden(left == 0);
    if let Some(words) = dom::find(&form, "[data-count]") {
        words.set_text_content(Some(&[" (", &left.to_string(), " s)"].concat()));
    }
}
