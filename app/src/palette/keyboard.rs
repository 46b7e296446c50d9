//! Handles keyboard shortcuts. Letters are shortcuts only outside of text fields. Only in the WASM build.

use super::{
    act::{TEXT_FIELDS, here},
    binding::{Match, Press, match_key, token},
    catalog::{Command, SHORTCUTS},
    state::{Keys, Operation},
    user_bindings, waiting,
};
use crate::browser::{dom, page};
use leptos::{ev::KeyboardEvent, prelude::WithUntracked as _};
use std::cell::RefCell;

/// Longest time between two keys of a sequence, in milliseconds.
const CHORD_MS_MAX: f64 = 1_200.0;
/// Elements in which not even the marker shortcut works.
const FIELDS: &str = "input, textarea, select, [contenteditable], dialog[open]";
/// What is open above the page: there, Ctrl Enter decides nothing behind it.
const ABOVE_PAGE: &str = "[popover], .popover[open], :is(:root:has(dialog[open]))";

/// Attaches the handlers of keys and of buttons that open dialogs.
pub fn start(keys: Keys) {
    keys.connect();
    page::start(move |name| open(keys, name));
    user_bindings::follow(keys.bindings);
    waiting::start(keys);

    let begun = RefCell::new((String::new(), f64::MIN));
    dom::on(&dom::document(), "keydown", move |event: KeyboardEvent| {
        if event.is_composing() || event.default_prevented() || is_in(&event, "[data-recording]") {
            return;
        }
        let Some(pressed) = token(&press(&event, &event.key(), &event.code())) else { return };
        let now = js_sys::Date::now();
        let (before, at) = begun.take();
        let before = if now - at < CHORD_MS_MAX { before } else { String::new() };
        let handled = match keys.bindings.with_untracked(|bindings| match_key(bindings, &here(), &before, &pressed)) {
            Match::Nothing => false,
            Match::Begun if is_in(&event, TEXT_FIELDS) => false,
            Match::Begun => {
                let so_far = if before.is_empty() { pressed } else { [&before, " ", &pressed].concat() };
                begun.replace((so_far, now));
                true
            }
            Match::Shortcut(at) => SHORTCUTS.get(at).is_some_and(|shortcut| perform(keys, shortcut.command, &event)),
        };
        if handled {
            event.prevent_default();
        }
    });
}

/// Key press data of a keyboard event.
pub fn press<'a>(event: &KeyboardEvent, key: &'a str, code: &'a str) -> Press<'a> {
    let (ctrl, meta, alt, shift) = (event.ctrl_key(), event.meta_key(), event.alt_key(), event.shift_key());
    Press { key, code, ctrl, meta, is_mac: dom::is_mac(), alt, shift }
}

/// Performs a shortcut unless the focused element handles the key itself. Returns false to let the browser handle the
/// key.
fn perform(keys: Keys, command: Command, event: &KeyboardEvent) -> bool {
    let form = matches!(command, Command::Decide).then(|| dom::closest(event, "[data-decides]")).flatten();
    let button = form.and_then(|form| dom::find(&form, "button[name=decision]"));
    let forbidden = match command {
        Command::Palette => "",
        Command::Decide => ABOVE_PAGE,
        Command::Marker => FIELDS,
        _ => TEXT_FIELDS,
    };
    if button.is_none() && !forbidden.is_empty() && is_in(event, forbidden) {
        return false;
    }
    // A held key would decide items that no one has seen. Its repeats are not left to the browser, which has a search
    // of its own for Ctrl K.
    if event.repeat() && !matches!(command, Command::Step(_)) {
        return true;
    }
    if let Some(button) = button {
        button.click();
        return true;
    }
    waiting::act_in_order(keys, command)
}

/// Opens a dialog by its name.
fn open(keys: Keys, name: &str) {
    match name {
        "palette" => keys.open(),
        _ => keys.play(Operation::KeysRequested),
    }
}

fn is_in(event: &KeyboardEvent, selector: &str) -> bool {
    dom::closest(event, selector).is_some()
}
