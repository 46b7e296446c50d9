//! What the inbox's page does with keys, clicks and live updates. Only in the WASM build.

use super::{
    countdown,
    item::Row,
    item_element::current_item,
    selecting, send,
    shown_item::{focus, prefetch, reload_item, restore_typed, show, values_changed},
    store::Store,
    tab_draft,
};
use crate::{
    browser::{
        address, dom, element,
        live::{self, Signal},
        task::spawn_local,
    },
    palette::step,
};
use leptos::{
    ev::{Event, KeyboardEvent, MouseEvent},
    prelude::*,
};

/// Brings the page to life.
pub fn start(store: Store) {
    store.path.set_value(address::path());
    address::on_step(move || {
        // After a link to a part of the page, the path is the same.
        if store.path.get_value() != address::path() {
            address::reload();
        }
    });
    restore_typed(store);
    follow(store);
    countdown::start(store);
    selecting::start(store);
    if let Some(row) = store.current() {
        prefetch(store, &row);
    }
}

/// Follows the live stream.
fn follow(store: Store) {
    live::subscribe(move |signal| {
        if signal.moves_queues() {
            send::refresh_soon(store);
        }
        let session = current_item(store).and_then(|item| item.get_attribute("data-session"));
        let concerns = match signal {
            Signal::Session { id, .. } => session.as_deref() == Some(id),
            Signal::Resync | Signal::Opened => true,
            Signal::Counts => false,
        };
        if concerns {
            spawn_local(reload_item(store));
        }
    });
}

/// A click on what the server rendered of an item: a popover, or a link to the item's first field.
pub fn on_click(store: Store, event: &MouseEvent) {
    if event.ctrl_key() || event.meta_key() || event.button() != 0 {
        return;
    }
    if let Some(summary) = dom::closest(event, ".popover > summary") {
        // The `details` element opens after this event. Then the focus moves to its first control.
        dom::after(0, move || {
            let sheet = element::next(&summary).filter(|sheet| sheet.offset_width() > 0);
            if let Some(first) = sheet.and_then(|sheet| dom::find(&sheet, "[id][name], button")) {
                let _ = first.focus();
            }
        });
    } else if dom::closest(event, "a[data-key=edit], a[data-key=respond]").is_some() {
        event.prevent_default();
        let item = dom::closest(event, "[data-session]");
        if let Some(first) = item.and_then(|item| dom::find(&item, "form [name^='value.'], form [name^=answer]")) {
            // The source of a text that is shown rendered is folded away.
            if let Some(source) = element::closest(&first, "details") {
                let _ = source.set_attribute("open", "");
            }
            let _ = first.focus();
        }
    } else if dom::closest(event, "[data-selection] .gate-back a").is_some() {
        // Another page would lose the selection.
        event.prevent_default();
        store.is_opened.set(false);
    }
}

/// Keys that move through the list, and Escape, which leads back to it. A held Enter acts once outside of text: each
/// repeat would press the button again, or send the form, and so confirm a decision that cannot be undone.
pub fn on_key(store: Store, event: &KeyboardEvent) {
    let in_list = dom::closest(event, ".row-title").is_some();
    let by = match event.key().as_str() {
        "ArrowDown" if in_list => 1,
        "ArrowUp" if in_list => -1,
        "Enter" => {
            if event.repeat() && dom::closest(event, "textarea").is_none() {
                event.prevent_default();
            }
            return;
        }
        "Escape" => {
            if let Some(more) = dom::closest(event, ".popover[open]") {
                let _ = more.remove_attribute("open");
            }
            if let Some(row) = store.current() {
                focus(store, &row);
            }
            return;
        }
        _ => return,
    };
    if step(by) {
        event.prevent_default();
    }
}

/// Something was typed into the shown item: it is kept when another one is opened.
pub fn on_input(store: Store, event: &Event) {
    if dom::closest(event, "[data-selection] [type=checkbox]").is_some_and(|control| selecting::pick(store, &control)) {
        return;
    }
    let Some(item) = current_item(store) else { return };
    let _ = item.set_attribute("data-typed", "");
    tab_draft::keep(&item);
    if dom::closest(event, "[data-part=values]").is_some() {
        values_changed(store, &item);
    }
}

/// Selects every row from the one selected last to the one with the focus, or to the current one.
pub fn select_range(store: Store) {
    let focused = dom::document().active_element().and_then(|element| element.closest("[data-id]").ok()?);
    let focused = focused.and_then(|row| row.get_attribute("data-id"));
    let focused = focused.filter(|id| store.row(id).is_some());
    if let Some(key) = focused.or_else(|| Some(store.current()?.key)) {
        store.select_range(&key);
    }
}

/// Opens an item: its address becomes that of the page. On a narrow screen, Back leads to the list.
pub fn open(store: Store, row: &Row) {
    show(store, row);
    store.is_opened.set(true);
    if address::path() != ["/inbox/", &row.key].concat() {
        address::push(&row.get(|item| item.href.clone()));
        store.path.set_value(address::path());
    }
    store.detail.focus_title();
}
