//! Listening to keys. Letters are shortcuts only outside of text fields. Only in the WASM build.

use super::catalog::SHORTCUTS;
use crate::browser::{dom, fetch, page};
use leptos::{html, prelude::*};
use std::cell::Cell;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{HtmlElement, KeyboardEvent};

/// Sessions shown for what was typed.
const FOUND_MAX: usize = 8;
/// How long the first of two keys waits for the second.
const CHORD_MS_MAX: f64 = 1_200.0;
/// Rows that `j` and `k` go through, by their link.
const ROW_LINKS: &str = ".row-title, .table-main a, .event-seq a";

type Found = Vec<(String, String, String)>;
type Signals = (RwSignal<String>, RwSignal<Found>, RwSignal<usize>);

/// Connects the dialogs with keys and buttons.
pub fn start(
    dialog: NodeRef<html::Dialog>,
    keys: NodeRef<html::Dialog>,
    input: NodeRef<html::Input>,
    signals: Signals,
) {
    let (typed, found, chosen) = signals;
    let open = move |name: &str| match name {
        "palette" => {
            typed.set(String::new());
            found.set(Vec::new());
            chosen.set(0);
            if let Some(field) = input.get_untracked() {
                field.set_value("");
            }
            show(dialog);
        }
        _ => show(keys),
    };
    page::start(open);

    let chord_at = Cell::new(f64::MIN);
    dom::on(&dom::document(), "keydown", move |event: KeyboardEvent| {
        if (event.ctrl_key() || event.meta_key()) && !event.shift_key() && event.key().eq_ignore_ascii_case("k") {
            event.prevent_default();
            open("palette");
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing() || types_text(&event) {
            return;
        }
        let key = event.key();
        let now = js_sys::Date::now();
        let pressed = if now - chord_at.replace(f64::MIN) < CHORD_MS_MAX { format!("g {key}") } else { key };
        let handled = match pressed.as_str() {
            "g" => {
                chord_at.set(now);
                true
            }
            "?" => {
                open("keys");
                true
            }
            "/" => search(),
            "j" => step(1),
            "k" => step(-1),
            pressed => press(pressed) || go(pressed),
        };
        if handled {
            event.prevent_default();
        }
    });
}

/// Looks for sessions by title, when typing has paused.
pub fn find(typed: RwSignal<String>, found: RwSignal<Found>) {
    let asked = typed.get_untracked();
    if asked.trim().chars().count() < 2 {
        found.set(Vec::new());
        return;
    }
    dom::after(180, move || {
        if typed.get_untracked() != asked {
            return;
        }
        spawn_local(async move {
            let query = String::from(js_sys::encode_uri_component(asked.trim()));
            let Ok(page) = fetch::get_json(&format!("/api/sessions?title={query}&limit={FOUND_MAX}")).await else {
                return;
            };
            if typed.get_untracked() != asked {
                return;
            }
            let items = js_sys::Reflect::get(&page, &"items".into()).map(|items| js_sys::Array::from(&items));
            let items = items.unwrap_or_default();
            let lines = items.iter().filter_map(|item| {
                Some((dom::text(&item, "id")?, dom::text(&item, "title")?, dom::text(&item, "status")?))
            });
            found.set(lines.take(FOUND_MAX).collect());
        });
    });
}

fn show(dialog: NodeRef<html::Dialog>) {
    if let Some(dialog) = dialog.get_untracked()
        && !dialog.open()
    {
        let _ = dialog.show_modal();
    }
}

/// Whether the key goes into a text field, or a dialog is open.
fn types_text(event: &KeyboardEvent) -> bool {
    dom::closest(
        event,
        "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], dialog[open]",
    )
    .is_some()
}

fn go(pressed: &str) -> bool {
    let target = SHORTCUTS.iter().find(|s| s.keys == pressed).and_then(|s| s.href);
    if let Some(href) = target {
        let _ = dom::window().location().set_href(href);
    }
    target.is_some()
}

/// A control of the page that answers to this key.
fn press(key: &str) -> bool {
    let control = dom::root().and_then(|root| {
        dom::find_all(&root, "[data-key]").into_iter().find(|c| c.get_attribute("data-key").as_deref() == Some(key))
    });
    if let Some(control) = &control {
        control.click();
    }
    control.is_some()
}

fn search() -> bool {
    match dom::by_id("filter-q") {
        Some(field) => {
            let _ = field.focus();
        }
        None => {
            let _ = dom::window().location().set_href("/sessions#filter-q");
        }
    }
    true
}

/// Moves the focus to the next or previous row.
fn step(by: i32) -> bool {
    let Some(root) = dom::root() else { return false };
    let rows: Vec<HtmlElement> =
        dom::find_all(&root, ROW_LINKS).into_iter().filter(|row| row.offset_parent().is_some()).collect();
    let focused = dom::document().active_element();
    let at = rows.iter().position(|row| focused.as_ref().is_some_and(|f| row.is_same_node(Some(f.unchecked_ref()))));
    let next = match (at, by) {
        (Some(at), 1) => at + 1,
        (Some(at), _) => at.saturating_sub(1),
        (None, _) => 0,
    };
    if let Some(row) = rows.get(next) {
        let _ = row.focus();
    }
    !rows.is_empty()
}
