//! What the components of the inbox call. On the server nothing happens.

use super::{item::Row, store::Store};
#[cfg(feature = "hydrate")]
use super::{send, shown_item, triage};
use leptos::ev::{Event, KeyboardEvent, MouseEvent, SubmitEvent};

/// Whether a click on a link is one for the page. Others open a tab or a window.
#[cfg(feature = "hydrate")]
fn is_plain(event: &MouseEvent) -> bool {
    let is_plain = !event.ctrl_key() && !event.meta_key() && event.button() == 0;
    if is_plain {
        event.prevent_default();
    }
    is_plain
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident($store:ident $(, $arg:ident: $kind:ty)*) $body:block)*) => {
        $($(#[$doc])*
        pub fn $name($store: Store $(, $arg: $kind)*) {
            #[cfg(feature = "hydrate")]
            $body
            #[cfg(not(feature = "hydrate"))]
            let _ = ($store, $($arg),*);
        })*
    };
}

events! {
    /// A form was submitted.
    submit(store, event: SubmitEvent) { send::on_submit(store, &event) }
    /// Something of the item beside the list was clicked.
    click(store, event: MouseEvent) { triage::on_click(store, &event) }
    /// A key was pressed.
    key(store, event: KeyboardEvent) { triage::on_key(store, &event) }
    /// Something was typed into the item beside the list.
    input(store, event: Event) { triage::on_input(store, &event) }
    /// The link of a row got the focus: its item is shown, unless the selection is.
    focus(store, key: &str) {
        if let Some(row) = store.row(key).filter(|row| row.get(|item| !item.is_current)) {
            if store.is_selecting() {
                store.make_current(&row);
            } else {
                shown_item::show(store, &row);
            }
        }
    }
    /// The link of a row was clicked.
    open(store, key: &str, event: &MouseEvent) {
        if is_plain(event) && let Some(row) = store.row(key) {
            triage::open(store, &row);
        }
    }
    /// The heading of a group was clicked: it folds or unfolds.
    fold(store, heading: &Row, event: &MouseEvent) {
        if is_plain(event) {
            let (group, is_folded) = heading.get(|item| (item.id.clone(), item.is_folded));
            store.fold(&group, !is_folded);
        }
    }
    /// The button of a group was clicked.
    select_group(store, group: &str, event: &MouseEvent) {
        if is_plain(event) {
            store.select_group(group);
        }
    }
    /// The button that selects a range was clicked.
    select_range(store) { triage::select_range(store) }
    /// What was not confirmed is sent again.
    send_again(store) { send::again(store) }
    /// What was not confirmed is not sent again.
    discard(store) { send::discard(store) }
}
