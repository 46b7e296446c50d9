//! Shows the current bindings, and records new ones on the settings page. It is loaded on that page, and where bindings
//! differ from the defaults. Only in the WASM build.

use super::{
    binding::{Bindings, conflict, token, why_not_bindable},
    catalog::{SHORTCUTS, display_keys},
    keyboard::press,
    part, state, user_bindings,
};
use crate::browser::dom;
use std::mem;
use wasm_bindgen::JsCast;
use web_sys::{FocusEvent, HtmlButtonElement, HtmlElement, KeyboardEvent, MouseEvent};

/// Keeps the lists of shortcuts on the page current, and attaches the handlers of the settings page.
pub fn start() {
    user_bindings::watch(|_| {
        state::with(|state| state.is_outdated = true);
        part::catch_up();
    });
    if dom::by_id("bindings").is_some() {
        part::catch_up();
    }
}

/// Shows the current bindings, if they have changed. In the part.
pub fn catch_up() {
    if !state::with(|state| mem::replace(&mut state.is_recorder_attached, true)) {
        attach();
    }
    if state::with(|state| mem::take(&mut state.is_outdated)) {
        show(&user_bindings::with(Clone::clone));
    }
}

fn attach() {
    let Some(list) = dom::by_id("bindings") else { return };
    dom::on(&list, "click", |event: MouseEvent| {
        if let Some((at, button)) = button(&event, "data-rebind") {
            record(at, button);
        } else if let Some((at, _)) = button(&event, "data-reset") {
            user_bindings::bind(at, None);
            say(&["Default: ", name(at), "."]);
        }
    });
    dom::on(&list, "keydown", on_key);
    dom::on(&list, "focusout", |_: FocusEvent| stop());
}

/// The button of an event that has this attribute, with the index of its shortcut.
fn button(event: &web_sys::Event, attribute: &str) -> Option<(usize, HtmlElement)> {
    let button = dom::closest(event, &["[", attribute, "]"].concat())?;
    let id = button.get_attribute(attribute)?;
    Some((SHORTCUTS.iter().position(|shortcut| shortcut.id == id)?, button))
}

fn name(at: usize) -> &'static str {
    SHORTCUTS.get(at).map_or("", |shortcut| shortcut.words)
}

fn say(words: &[&str]) {
    if let Some(line) = dom::by_id("bindings-said") {
        line.set_text_content(Some(&words.concat()));
    }
}

fn label(button: &HtmlElement, words: &str) {
    if let Some(label) = dom::find(button, "span") {
        label.set_text_content(Some(words));
    }
}

fn record(at: usize, button: HtmlElement) {
    stop();
    // Not every browser focuses a clicked button.
    let _ = button.focus();
    let _ = button.set_attribute("data-recording", "");
    label(&button, "Press a key…");
    say(&["Press the new key. Press Escape to keep the current one."]);
    state::with(|state| state.recording = Some((at, button)));
}

fn stop() {
    if let Some((_, button)) = state::with(|state| state.recording.take()) {
        let _ = button.remove_attribute("data-recording");
        label(&button, "Change");
    }
}

fn on_key(event: KeyboardEvent) {
    let Some(at) = state::with(|state| state.recording.as_ref().map(|(at, _)| *at)) else { return };
    let (key, code) = (event.key(), event.code());
    let Some(token) = token(&press(&event, &key, &code)) else { return };
    if token == "Tab" || token == "Shift+Tab" {
        return;
    }
    event.prevent_default();
    event.stop_propagation();
    if token == "Escape" {
        stop();
        say(&["Nothing was changed."]);
    } else if let Some(why) = why_not_bindable(&token) {
        say(&[why]);
    } else if let Some(other) = user_bindings::with(|bindings| conflict(bindings, at, &token)) {
        say(&["That key is already used: ", name(other), ". Press another one."]);
    } else {
        stop();
        user_bindings::bind(at, Some(token));
        say(&["Changed: ", name(at), "."]);
    }
}

fn show(bindings: &Bindings) {
    let Some(root) = dom::root() else { return };
    for (shortcut, keys) in SHORTCUTS.iter().zip(bindings) {
        for place in dom::find_all(&root, &["[data-keys-of=", shortcut.id, "]"].concat()) {
            place.set_text_content(None);
            for (at, binding) in keys.iter().enumerate() {
                if at > 0 {
                    add(&place, "span", "meta", "or");
                }
                display_keys(binding).iter().for_each(|key| add(&place, "kbd", "", key));
            }
        }
        if let Some(reset) = dom::find(&root, &["[data-reset=", shortcut.id, "]"].concat()) {
            let is_default = shortcut.keys.iter().eq(keys.iter());
            reset.unchecked_into::<HtmlButtonElement>().set_disabled(is_default);
        }
    }
}

fn add(place: &HtmlElement, tag: &str, class: &str, text: &str) {
    if let Some(element) = dom::make(tag, class) {
        element.set_text_content(Some(text));
        let _ = place.append_child(&element);
    }
}
