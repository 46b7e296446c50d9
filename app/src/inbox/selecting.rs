//! Shows the selected items beside the list: what differs between them, and the buttons that decide all of them. Only
//! in the WASM build.

use super::{
    api::item_of_field,
    item::Row,
    item_element::{current_item, parse},
    refusal::carry_over,
    shown_item,
    store::Store,
};
use crate::{
    browser::{
        checkbox,
        dom::{self, HtmlElement},
        element, fetch,
        task::spawn_local,
    },
    palette::act_on_waiting,
};
use leptos::prelude::{Effect, GetUntracked as _, GetValue as _, Set as _};

/// Address of the selection, without its query.
pub const PATH: &str = "/inbox/selection";
/// Changes of the selection within this time cause one request, in milliseconds.
const GATHER_MS: i32 = 120;
/// The selection beside the list.
const SELECTION: &str = "[data-selection]";
/// Shown while it loads. It has no controls, so that a shortcut cannot decide another item.
const LOADING: &str = "<div class=\"skeleton inbox-nothing inbox-loading\" data-selection aria-busy=\"true\" data-keys-wait>\
    <p class=\"hidden-text\" tabindex=\"-1\">Loading…</p></div>";
/// Shown if it cannot be loaded.
const FAILED: &str = "<div class=\"inbox-nothing\" data-selection>\
    <p tabindex=\"-1\">What you selected could not be loaded, so nothing can be decided. Select an item again.</p></div>";

/// Follows the selection.
pub fn start(store: Store) {
    Effect::new(move |before: Option<Vec<String>>| {
        let now = store.selected_keys();
        let is_other = match &before {
            Some(before) => *before != now,
            None => !now.is_empty() && store.detail.find(SELECTION).is_none(),
        };
        if is_other {
            changed(store, now.is_empty());
        }
        now
    });
}

fn changed(store: Store, is_empty: bool) {
    let turn = store.next_selection();
    match store.detail.find(SELECTION) {
        Some(_) if is_empty => restore_item(store),
        None if is_empty => {}
        Some(old) => {
            let _ = old.set_attribute("data-keys-wait", "");
        }
        None => show_loading(store),
    }
    if !is_empty {
        dom::after(GATHER_MS, move || spawn_local(load(store, turn)));
    }
}

/// Shows an item again where the selection was; on a narrow screen, the list.
fn restore_item(store: Store) {
    store.is_opened.set(false);
    match store.current().filter(Row::is_open).or_else(|| store.first_shown()) {
        Some(row) => shown_item::show(store, &row),
        None => shown_item::show_nothing(store),
    }
}

/// Whether an element is a selection, and no item.
pub fn is_selection(element: &HtmlElement) -> bool {
    element.has_attribute("data-selection")
}

fn show_loading(store: Store) {
    if current_item(store).is_some_and(|item| item.has_attribute("data-typed")) {
        shown_item::keep_shown_item(store);
    }
    store.detail.show(LOADING);
}

/// Shows the selection, unless it has changed meanwhile. A reason that was typed stays.
async fn load(store: Store, turn: u32) {
    if store.selection.get_value() != turn {
        return;
    }
    let list: Option<HtmlElement> = store.list.get_untracked().map(Into::into);
    let fields = list.and_then(|list| fetch::fields(&element::closest(&list, "form")?, None));
    let html = match fields {
        Some(fields) => fetch::post_text(&[PATH, "?", &store.query.get_value()].concat(), &fields).await,
        None => None,
    };
    // An item may have been opened meanwhile.
    let Some(old) = store.detail.find(SELECTION).filter(|_| store.selection.get_value() == turn) else { return };
    match html.and_then(|html| parse(&html)) {
        Some(new) => {
            carry_over(&old, &new);
            store.detail.put(&new);
        }
        None if old.has_attribute("aria-busy") => store.detail.show(FAILED),
        // What is shown can be decided still: its form names what it shows.
        None => {
            let _ = old.remove_attribute("data-keys-wait");
        }
    }
    act_on_waiting();
}

/// Shows the selection again after one of its items was opened, and on a narrow screen instead of the list.
pub fn review(store: Store) {
    store.is_opened.set(true);
    if store.detail.find(SELECTION).is_none() {
        changed(store, false);
    }
}

/// A box of the selection's table was changed. Returns whether `control` is one.
pub fn pick(store: Store, control: &HtmlElement) -> bool {
    let name = control.get_attribute("name").unwrap_or_default();
    let row = item_of_field(&name).and_then(|id| store.row(id));
    match (row, checkbox::read(control)) {
        (Some(row), Some(read)) => {
            store.tick(&row, read.is_ticked);
            true
        }
        _ => false,
    }
}
