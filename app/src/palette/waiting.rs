//! Shortcuts that are pressed before the islands that handle them have loaded. They take effect in their order as soon
//! as the islands work. Only in the WASM build.

use super::{
    act::{TEXT_FIELDS, act, control, here},
    catalog::{Command, ShortcutScope},
    state::Keys,
};
use crate::browser::dom::{self, HtmlElement};
use leptos::prelude::{UpdateValue as _, WithValue as _};

/// The loader of the page sends this event to the document when every island works.
const READY_EVENT: &str = "shiftbook-ready";
/// Attribute of the root element from then on.
const READY: &str = "data-ready";
/// Attribute of the root element if a part of the frontend cannot be loaded. Then no island is waited for.
const PART_MISSING: &str = "data-part-missing";
/// Content with this attribute is about to be replaced by what a shortcut is meant for.
const LOADING: &str = "[data-keys-wait]";
/// Most shortcuts that wait; later ones are ignored.
const WAITING_MAX: usize = 32;

/// Attaches the event handler.
pub fn start(keys: Keys) {
    dom::when(&dom::document(), READY_EVENT, move || act_in_turn(keys));
}

/// Performs a shortcut, or keeps it until the island that handles it works. Returns false if it does not apply here.
pub fn act_in_order(keys: Keys, command: Command) -> bool {
    let Some(root) = dom::root() else { return false };
    if root.has_attribute(PART_MISSING) {
        forget(keys);
    }
    if !is_loading(&root) && dom::find(&root, LOADING).is_none() {
        // What the others waited for was replaced by something else.
        forget(keys);
    }
    let is_free = keys.waiting.with_value(|waiting| waiting.is_empty());
    if is_free && !(is_loading(&root) && needs_island(command)) && !is_awaited(&root, command) {
        return act(keys, command);
    }
    keys.waiting.update_value(|waiting| {
        if waiting.len() < WAITING_MAX {
            waiting.push_back(command);
        }
    });
    true
}

/// Performs the shortcuts that wait: an island shows now what they were meant for.
pub fn act_on_waiting() {
    if let Some(keys) = Keys::of_page() {
        act_in_turn(keys);
    }
}

/// Performs the shortcuts that wait, up to one that has to wait for an item.
fn act_in_turn(keys: Keys) {
    let Some(root) = dom::root() else { return };
    while !is_loading(&root) && dom::find(&root, LOADING).is_none() {
        let next = keys.waiting.try_update_value(|waiting| waiting.pop_front()).flatten();
        let Some(command) = next else { return };
        if is_typing() {
            // A shortcut before it has opened a field, or the person has: what follows was meant as text.
            forget(keys);
            return;
        }
        act(keys, command);
    }
}

fn forget(keys: Keys) {
    keys.waiting.update_value(|waiting| waiting.clear());
}

fn is_loading(root: &HtmlElement) -> bool {
    !root.has_attribute(READY) && !root.has_attribute(PART_MISSING)
}

/// Whether what a shortcut is meant for is about to be shown.
fn is_awaited(root: &HtmlElement, command: Command) -> bool {
    let key = match command {
        Command::Press(key) => key,
        Command::Decide => "approve",
        _ => return false,
    };
    control(key).is_none() && here() == ShortcutScope::Inbox.as_str() && dom::find(root, LOADING).is_some()
}

/// Whether an island may handle this shortcut on this page.
fn needs_island(command: Command) -> bool {
    match command {
        Command::Press(key) => control(key).is_some(),
        Command::Step(_) | Command::Decide => here() == ShortcutScope::Inbox.as_str(),
        _ => false,
    }
}

fn is_typing() -> bool {
    dom::document()
        .active_element()
        .is_some_and(|focused| focused.closest(TEXT_FIELDS).is_ok_and(|field| field.is_some()))
}
