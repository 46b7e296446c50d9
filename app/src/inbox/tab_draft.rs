//! What a reviewer typed into an item, kept in this tab until the decision is recorded: another page, a reload and a
//! sign-in that has ended lose nothing. Only in the WASM build.

use super::{
    item_element::id_of,
    refusal::{properties, typed},
};
use crate::{
    browser::{
        dom::{self, HtmlElement},
        element,
    },
    server_function::stringified,
};

const CONTROLS: &str = "input[id][name]:not([type=password],[type=file]), textarea[id][name], select[id][name]";
/// Hidden fields that say what the reviewer was shown, with the members in which they are stored: the digest of the
/// proposal, and for a memory the version of the document. Ids of controls have no space.
const SHOWN: [(&str, &str); 2] = [
    ("shown digest", "form[data-part=values] [name=digest]"),
    ("shown base", "form[data-part=values] [type=hidden][name='value.baseVersion']"),
];

/// The storage key of an item. Another person on the same tab has other keys.
fn key(id: &str) -> String {
    ["shiftbook-inbox ", &dom::owner(), " ", id].concat()
}

/// Stores the text typed into the item. A form as it was rendered stores nothing.
pub fn keep(item: &HtmlElement) {
    let Some(storage) = dom::session_storage() else { return };
    let values = js_sys::Object::new();
    let mut is_typed = false;
    for control in dom::find_all(item, CONTROLS) {
        if let Some((_, value)) = typed(&control) {
            let _ = js_sys::Reflect::set(&values, &control.id().into(), &value);
            is_typed = true;
        }
    }
    if !is_typed {
        return forget(&id_of(item));
    }
    for (member, selector) in SHOWN {
        if let Some(shown) = dom::find(item, selector) {
            let _ = js_sys::Reflect::set(&values, &member.into(), &dom::member(&shown, "value"));
        }
    }
    let _ = storage.set_item(&key(&id_of(item)), &stringified(&values));
}

/// Puts what is stored into the controls of the item, except where something was typed before this page's scripts ran:
/// that is newer, and it is stored as well. Returns whether the item has a value or an answer of the reviewer.
pub fn restore(item: &HtmlElement) -> bool {
    let id = id_of(item);
    if item.get_attribute("data-state").as_deref() != Some("open") {
        forget(&id);
        return false;
    }
    let stored = dom::session_storage().and_then(|storage| storage.get_item(&key(&id)).ok().flatten());
    let stored = stored.and_then(|stored| js_sys::JSON::parse(&stored).ok());
    let controls = dom::find_all(item, CONTROLS);
    let early: Vec<&HtmlElement> = controls.iter().filter(|control| typed(control).is_some()).collect();
    let mut is_value = false;
    for control in &controls {
        if !early.iter().any(|other| is_answered_by(control, other)) {
            let value = stored.as_ref().map(|stored| dom::member(stored, &control.id()));
            let Some(value) = value.filter(|value| !value.is_undefined()) else { continue };
            let _ = js_sys::Reflect::set(control, &properties(control).0.into(), &value);
        }
        is_value |= element::closest(control, "[data-part=values]").is_some();
    }
    // The decision is about what was shown when it was typed: the server refuses it if something else is proposed, and
    // joins the text with what a newer version of the document changed, or refuses it.
    for (member, selector) in SHOWN {
        let shown = stored.as_ref().and_then(|stored| dom::text(stored, member));
        if let (Some(field), Some(shown)) = (dom::find(item, selector), shown) {
            let _ = js_sys::Reflect::set(&field, &"value".into(), &shown.into());
        }
    }
    if !early.is_empty() {
        keep(item);
    }
    if !early.is_empty() || stored.is_some() {
        let _ = item.set_attribute("data-typed", "");
    }
    is_value
}

/// Whether typing into `other` also says what this control holds: it is the same one, or an option of the same choice.
fn is_answered_by(control: &HtmlElement, other: &HtmlElement) -> bool {
    let attribute = |name: &str| [control, other].map(|of| of.get_attribute(name));
    let is_choice = attribute("type").iter().all(|kind| kind.as_deref() == Some("radio"));
    let [own, others] = attribute("name");
    (is_choice && own == others) || control.is_same_node(Some(other))
}

/// Removes what is stored of an item.
pub fn forget(id: &str) {
    if let Some(storage) = dom::session_storage() {
        let _ = storage.remove_item(&key(id));
    }
}
