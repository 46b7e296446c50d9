//! Shows an item again whose decision was refused: as it is now, with the typed text, and each error at its control.
//! Only in the WASM build.

use crate::{
    browser::{
        dom::{self, HtmlElement},
        element,
    },
    server_function::Refusal,
};
use wasm_bindgen::JsValue;

/// Carries the typed text, and what was unfolded, from an item that was shown to the same item as it is now. Controls
/// that the reviewer left alone show what is proposed now: another reviewer may have changed it.
pub fn carry_over(old: &HtmlElement, new: &HtmlElement) {
    let controls = dom::find_all(new, "[id][name]");
    let mut earlier = Vec::new();
    for before in dom::find_all(old, "[id][name]") {
        let wanted = key(&before);
        // Some forms of an item have a control of the same name, such as the reason: the nth belongs to the nth.
        let nth = earlier.iter().filter(|other| **other == wanted).count();
        if let Some((property, value)) = typed(&before)
            && let Some(now) = controls.iter().filter(|now| key(now) == wanted).nth(nth)
        {
            let _ = js_sys::Reflect::set(now, &property.into(), &value);
        }
        earlier.push(wanted);
    }
    for before in dom::find_all(old, "details[open] > [data-key]") {
        let key = before.get_attribute("data-key").unwrap_or_default();
        if let Some(details) = dom::find(new, &["details:has(> [data-key=", &key, "])"].concat()) {
            let _ = details.set_attribute("open", "");
        }
    }
    let _ = new.set_attribute("data-typed", "");
}

/// What a control is for: its name, and the value of one option of several.
fn key(control: &HtmlElement) -> [Option<String>; 2] {
    let value = is_option(control).then(|| control.get_attribute("value")).flatten();
    [control.get_attribute("name"), value]
}

fn is_option(control: &HtmlElement) -> bool {
    matches!(control.get_attribute("type").as_deref(), Some("radio" | "checkbox"))
}

/// What a reviewer typed into a control or chose with it: the name of the property, and its value. `None` if the
/// control is as it was rendered.
pub fn typed(control: &HtmlElement) -> Option<(&'static str, JsValue)> {
    let (property, default) = properties(control);
    // A list begins with the option that was rendered as chosen, or else with its first one.
    let chosen = dom::find(control, "option[selected]").or_else(|| dom::find(control, "option"));
    let rendered = chosen.map_or_else(|| dom::member(control, default), |option| dom::member(&option, "value"));
    let value = dom::member(control, property);
    (value != rendered).then_some((property, value))
}

/// The names of a control's properties: what it holds, and what it was rendered with.
pub fn properties(control: &HtmlElement) -> (&'static str, &'static str) {
    if is_option(control) { ("checked", "defaultChecked") } else { ("value", "defaultValue") }
}

/// Shows each error at its control, and the others above the item.
pub fn show_errors(item: &HtmlElement, refusal: &Refusal) {
    for old in dom::find_all(item, ".field-error, [data-refused]") {
        old.remove();
    }
    let controls = dom::find_all(item, "[id][name]");
    let mut general = Vec::new();
    for error in &refusal.errors {
        let control = controls.iter().find(|control| control.get_attribute("name").as_deref() == Some(&error.field));
        match control {
            Some(control) => show_error(control, &error.message),
            None => general.push(error.message.clone()),
        }
    }
    if refusal.errors.is_empty() {
        general.push(refusal.message());
    }
    if general.is_empty() {
        return;
    }
    let (Some(state), Some(notice)) = (dom::find(item, "[data-part=state]"), dom::make("div", "notice")) else {
        return;
    };
    for (name, value) in [("data-tone", "bad"), ("role", "alert"), ("data-refused", "")] {
        let _ = notice.set_attribute(name, value);
    }
    if let Some(body) = dom::make("div", "notice-body") {
        for message in general {
            append_text(&body, "p", &message);
        }
        let _ = notice.append_child(&body);
    }
    let _ = state.insert_before(&notice, state.first_child().as_ref());
}

fn show_error(control: &HtmlElement, message: &str) {
    let id = [&control.id(), "-error"].concat();
    let Some(error) = dom::make("p", "field-error") else { return };
    error.set_id(&id);
    append_text(&error, "span", message);
    // The error of a group of options is above all of them.
    if let Some(options) = element::closest(control, ".choices") {
        if let Some(group) = element::parent(&options) {
            let _ = group.set_attribute("data-invalid", "true");
            let _ = group.set_attribute("aria-describedby", &id);
            element::insert(&group, &error, Some(&options));
        }
        return;
    }
    let hint = element::parent(control).and_then(|field| dom::find(&field, ".field-hint"));
    let described = hint.map_or_else(|| id.clone(), |hint| [&id, " ", &hint.id()].concat());
    let _ = control.set_attribute("aria-invalid", "true");
    let _ = control.set_attribute("aria-describedby", &described);
    element::put_after(control, &error);
}

/// Appends an element with a text, and returns it.
pub fn append_text(parent: &HtmlElement, tag: &str, text: &str) -> Option<HtmlElement> {
    let element = dom::make(tag, "")?;
    element.set_text_content(Some(text));
    parent.append_child(&element).ok()?;
    Some(element)
}

/// The text for the row of a refused item.
pub fn reason(refusal: &Refusal) -> String {
    refusal.errors.first().map_or_else(|| refusal.message(), |error| error.message.clone())
}
