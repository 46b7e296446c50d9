//! Handles keyboard shortcuts. Letters are shortcuts only outside of text fields. Only in the WASM build.

use super::{
    binding::{Match, Press, match_key, token},
    catalog::{Command, SHORTCUTS},
    state::{Keys, Operation},
    user_bindings, waiting,
};
use crate::{
    browser::{dom, page},
    working_on,
};
use leptos::prelude::WithUntracked as _;
use std::cell::RefCell;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

/// Longest time between two keys of a sequence, in milliseconds.
const CHORD_MS_MAX: f64 = 1_200.0;
/// Links of the rows that `j` and `k` move between.
const ROW_LINKS: &str = ".row-title, .table-main a, .event-seq a";
/// Elements in which letters are text.
pub const TEXT_FIELDS: &str =
    "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], dialog[open], [popover]";
/// Elements in which not even the marker shortcut works.
const FIELDS: &str = "input, textarea, select, [contenteditable], dialog[open]";
/// The field that `/` leads to.
const SEARCH_FIELD: &str = "[action='/sessions'] [name=q]";

/// Attaches the handlers of keys and of buttons that open dialogs.
pub fn start(keys: Keys) {
    keys.connect();
    page::start(move |name| open(keys, name));
    user_bindings::follow(keys);
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
    let forbidden = match command {
        Command::Palette | Command::Decide => "",
        Command::Marker => FIELDS,
        _ => TEXT_FIELDS,
    };
    if !forbidden.is_empty() && is_in(event, forbidden) {
        return false;
    }
    let form = (command == Command::Decide).then(|| dom::closest(event, "[data-decides]")).flatten();
    if let Some(button) = form.and_then(|form| dom::find(&form, "button[name=decision]")) {
        button.click();
        return true;
    }
    waiting::act_in_order(keys, command)
}

/// Performs a shortcut. Returns false if it does not apply here.
pub fn act(keys: Keys, command: Command) -> bool {
    match command {
        Command::Go(href) => {
            let _ = dom::window().location().set_href(href);
            true
        }
        Command::Press(key) => press_control(key),
        Command::Palette => {
            keys.open();
            true
        }
        Command::Keys => {
            keys.play(Operation::AskedForKeys);
            true
        }
        Command::Search => focus_search(),
        Command::Step(by) => step(by),
        Command::Marker => working_on::Work::of_page().is_some_and(working_on::Work::open_marker),
        Command::Decide => press_control("approve"),
    }
}

/// Opens a dialog by its name.
fn open(keys: Keys, name: &str) {
    match name {
        "palette" => keys.open(),
        _ => keys.play(Operation::AskedForKeys),
    }
}

/// The `data-keys` of the page.
pub fn here() -> String {
    let page = dom::root().and_then(|root| dom::find(&root, "[data-keys]"));
    page.and_then(|page| page.get_attribute("data-keys")).unwrap_or_default()
}

fn is_in(event: &KeyboardEvent, selector: &str) -> bool {
    dom::closest(event, selector).is_some()
}

/// The visible control of the page with this `data-key`. Of controls in rows, the one of the current row.
pub fn control(key: &str) -> Option<HtmlElement> {
    let root = dom::root()?;
    let row = |element: &HtmlElement| element.closest("[data-row]").ok().flatten();
    let focused = dom::document().active_element().and_then(|focused| row(focused.unchecked_ref()));
    let current = focused.or_else(|| dom::find(&root, "[data-row][aria-current]").map(Into::into));
    dom::find_all(&root, &["[data-key=", key, "]"].concat()).into_iter().find(|control| {
        let in_place = row(control).is_none_or(|row| current.as_ref().is_some_and(|here| row.is_same_node(Some(here))));
        in_place && control.offset_width() > 0
    })
}

fn press_control(key: &str) -> bool {
    let control = control(key);
    if let Some(control) = &control {
        control.click();
    }
    control.is_some()
}

fn focus_search() -> bool {
    match dom::root().and_then(|root| dom::find(&root, SEARCH_FIELD)) {
        Some(field) => {
            let _ = field.focus();
        }
        None => {
            let _ = dom::window().location().set_href("/sessions#filter-q");
        }
    }
    true
}

/// Moves the focus to the next or previous visible row; starts from the current row if no row has the focus.
pub fn step(by: i32) -> bool {
    let Some(root) = dom::root() else { return false };
    let rows = dom::find_all(&root, ROW_LINKS);
    // Reading `offset_parent` forces layout, so only the rows on the way are tested.
    let is_shown = |row: &&HtmlElement| row.offset_parent().is_some();
    let focused = dom::document().active_element();
    let at = rows.iter().position(|row| focused.as_ref().is_some_and(|f| row.is_same_node(Some(f.unchecked_ref()))));
    let at =
        at.or_else(|| rows.iter().position(|row| row.closest("[aria-current=true]").is_ok_and(|row| row.is_some())));
    let next = match (at, by) {
        (Some(at), 1) => rows.iter().skip(at + 1).find(is_shown),
        (Some(at), _) => rows.iter().take(at).rev().find(is_shown),
        (None, _) => rows.iter().find(is_shown),
    };
    if let Some(row) = next {
        let _ = row.focus();
    }
    at.is_some() || next.is_some()
}
