//! The list of the palette: commands are filtered on every key, the server is searched after a pause. It is loaded
//! when the dialog is opened for the first time; keys that are pressed until then take effect after. Only in the WASM
//! build.

use super::{
    catalog::{Command, SHORTCUTS, Shortcut},
    keyboard::{act, control},
    part, state,
};
use crate::browser::task::spawn_local;
use crate::{
    browser::{dom, fetch, patch},
    lowercase::lowercase,
};
use std::mem;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlDialogElement, HtmlElement, HtmlInputElement, KeyboardEvent, MouseEvent};

/// Pause after the last key before the server is searched, in milliseconds.
const PAUSE_MS: i32 = 180;
/// Shortest text that the server is searched for, characters.
const CHARS_MIN: usize = 2;

/// Hides the list until it is narrowed to what the page has.
const WAITS: &str = "data-waits";

/// Attaches the handler of the keys that choose and run.
pub fn start() {
    let Some(field) = field() else { return };
    dom::on(&field, "keydown", |event: KeyboardEvent| {
        let key = event.key();
        if matches!(key.as_str(), "ArrowDown" | "ArrowUp" | "Enter") {
            event.prevent_default();
            state::with(|state| state.keys.push(key));
            part::catch_up();
        }
    });
}

/// Opens the dialog with an empty search field.
pub fn open() {
    if let (Some(dialog), Some(field)) = (dialog(), field())
        && !dialog.open()
    {
        field.set_value("");
        let _ = dialog.set_attribute(WAITS, "");
        let _ = dialog.show_modal();
        state::with(|state| state.is_opened = true);
        part::catch_up();
    }
}

/// Brings the dialog up to date with what happened since the last call. In the part.
pub fn catch_up() {
    let Some(dialog) = dialog() else { return };
    if !state::with(|state| mem::replace(&mut state.is_palette_attached, true)) {
        attach(&dialog);
    }
    if state::with(|state| mem::take(&mut state.is_opened)) {
        typed();
        let _ = dialog.remove_attribute(WAITS);
    }
    for key in state::with(|state| mem::take(&mut state.keys)) {
        if !dialog.open() {
            return;
        }
        match key.as_str() {
            "ArrowDown" => choose(1),
            "ArrowUp" => choose(-1),
            _ => {
                if let Some(option) = options().into_iter().find(is_chosen) {
                    run(&option);
                }
            }
        }
    }
}

fn attach(dialog: &HtmlDialogElement) {
    if let Some(field) = field() {
        dom::on(&field, "input", |_: Event| typed());
    }
    dom::on(dialog, "click", |event: MouseEvent| {
        if let Some(option) = dom::closest(&event, ".palette-item") {
            run(&option);
        }
    });
}

fn dialog() -> Option<HtmlDialogElement> {
    dom::by_id("palette")?.dyn_into().ok()
}

fn field() -> Option<HtmlInputElement> {
    dom::by_id("palette-input")?.dyn_into().ok()
}

/// The options that match the typed text.
fn options() -> Vec<HtmlElement> {
    dom::by_id("palette-list").map(|list| dom::find_all(&list, "li:not([hidden])")).unwrap_or_default()
}

fn is_chosen(option: &HtmlElement) -> bool {
    option.get_attribute("aria-selected").as_deref() == Some("true")
}

fn shortcut(option: &HtmlElement) -> Option<Shortcut> {
    let id = option.get_attribute("data-shortcut")?;
    SHORTCUTS.into_iter().find(|shortcut| shortcut.id == id)
}

/// Handles typing: hides options that do not match, and searches the server after a pause.
fn typed() {
    let text = field().map(|field| field.value()).unwrap_or_default();
    let asks = text.trim().chars().count() >= CHARS_MIN;
    if !asks {
        forget_found();
    }
    narrow(&text, !asks);
    choose(0);
    if asks {
        dom::after(PAUSE_MS, move || {
            if field().is_some_and(|field| field.value() == text) {
                spawn_local(ask(text));
            }
        });
    }
}

async fn ask(text: String) {
    let query = String::from(js_sys::encode_uri_component(text.trim()));
    let answer = fetch::get_text(&["/find?q=", &query].concat()).await;
    let (Some(list), Some(field)) = (dom::by_id("palette-list"), field()) else { return };
    if field.value() != text {
        return;
    }
    forget_found();
    if let Ok(fragment) = answer.map(|html| patch::parse(&html))
        && let Some(fragment) = fragment
    {
        let _ = list.append_child(&fragment);
    }
    narrow(&text, true);
    // What was chosen by keys meanwhile stays chosen.
    if !options().iter().any(is_chosen) {
        choose(0);
    }
}

fn forget_found() {
    if let Some(list) = dom::by_id("palette-list") {
        dom::find_all(&list, "[data-found]").iter().for_each(|old| old.remove());
    }
}

/// Shows the options that contain every word. `is_all` says that no more results will come.
fn narrow(text: &str, is_all: bool) {
    let Some(list) = dom::by_id("palette-list") else { return };
    let text = lowercase(text);
    for option in dom::find_all(&list, "li") {
        let words = lowercase(&option.text_content().unwrap_or_default());
        let can = match shortcut(&option).map(|shortcut| shortcut.command) {
            Some(Command::Press(key)) => control(key).is_some(),
            _ => true,
        };
        // A search result may match in a text that it does not show.
        let fits = option.has_attribute("data-found") || text.split_whitespace().all(|word| words.contains(word));
        option.set_hidden(!(can && fits));
    }
    if let Some(none) = dom::by_id("palette-none") {
        none.set_text_content((is_all && options().is_empty()).then_some("Nothing matches."));
    }
}

/// Selects the next or previous option; 0 selects the first.
fn choose(by: isize) {
    let options = options();
    let at = options.iter().position(is_chosen);
    let count = options.len().max(1);
    let next = match (at, by) {
        (Some(at), -1 | 1) => at.wrapping_add_signed(by).wrapping_add(count) % count,
        _ => 0,
    };
    if let Some(list) = dom::by_id("palette-list") {
        for old in dom::find_all(&list, "[aria-selected=true]") {
            let _ = old.set_attribute("aria-selected", "false");
        }
    }
    let Some(field) = field() else { return };
    match options.get(next) {
        Some(option) => {
            let _ = option.set_attribute("aria-selected", "true");
            let _ = field.set_attribute("aria-activedescendant", &option.id());
            option.scroll_into_view_with_bool(false);
        }
        None => {
            let _ = field.remove_attribute("aria-activedescendant");
        }
    }
}

/// Opens the page of an option, or performs its command with the focus where it was before.
fn run(option: &HtmlElement) {
    if let Some(href) = option.get_attribute("data-href") {
        let _ = dom::window().location().set_href(&href);
    }
    if let Some(dialog) = dialog() {
        dialog.close();
    }
    if let Some(shortcut) = shortcut(option) {
        act(shortcut.command);
    }
}
