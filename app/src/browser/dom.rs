//! Elements and events. Listeners live as long as the page: navigations are real ones.

use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{Document, Element, Event, EventTarget, HtmlElement, Window};

/// The window. There is one wherever islands run.
pub fn window() -> Window {
    leptos::prelude::window()
}

/// The document.
pub fn document() -> Document {
    leptos::prelude::document()
}

/// An element by id.
pub fn by_id(id: &str) -> Option<HtmlElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// The first element that matches.
pub fn find(root: &Element, selector: &str) -> Option<HtmlElement> {
    root.query_selector(selector).ok()??.dyn_into().ok()
}

/// Every element that matches.
pub fn find_all(root: &Element, selector: &str) -> Vec<HtmlElement> {
    let Ok(found) = root.query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|i| found.get(i)?.dyn_into().ok()).collect()
}

/// The document's root element.
pub fn root() -> Option<HtmlElement> {
    document().document_element()?.dyn_into().ok()
}

/// Listens for as long as the page lives.
pub fn on<E: JsCast + 'static>(target: &EventTarget, event: &str, mut handle: impl FnMut(E) + 'static) {
    let closure = Closure::<dyn FnMut(Event)>::new(move |event: Event| handle(event.unchecked_into()));
    let _ = target.add_event_listener_with_callback(event, closure.as_ref().unchecked_ref());
    closure.forget();
}

/// The same in the capture phase, for events that do not bubble.
pub fn on_capture<E: JsCast + 'static>(target: &EventTarget, event: &str, mut handle: impl FnMut(E) + 'static) {
    let closure = Closure::<dyn FnMut(Event)>::new(move |event: Event| handle(event.unchecked_into()));
    let _ = target.add_event_listener_with_callback_and_bool(event, closure.as_ref().unchecked_ref(), true);
    closure.forget();
}

/// Calls back once, later.
pub fn after(millis: i32, call: impl FnOnce() + 'static) {
    let call = Closure::once_into_js(call);
    let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(call.unchecked_ref(), millis);
}

/// Calls back again and again.
pub fn every(millis: i32, call: impl FnMut() + 'static) {
    let closure = Closure::<dyn FnMut()>::new(call);
    let _ = window().set_interval_with_callback_and_timeout_and_arguments_0(closure.as_ref().unchecked_ref(), millis);
    closure.forget();
}

/// The element of an event's target that matches, itself or around it.
pub fn closest(event: &Event, selector: &str) -> Option<HtmlElement> {
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest(selector).ok()??.dyn_into().ok()
}

/// Storage that tabs share and that outlives them, where the browser allows it.
pub fn local_storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// Storage of this tab; it survives reloads and navigations.
pub fn session_storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

/// What is kept under a key for all tabs.
pub fn stored(key: &str) -> Option<String> {
    local_storage()?.get_item(key).ok()?
}

/// Keeps it for all tabs; nothing removes it.
pub fn store(key: &str, value: Option<&str>) {
    if let Some(storage) = local_storage() {
        let _ = match value {
            Some(value) => storage.set_item(key, value),
            None => storage.remove_item(key),
        };
    }
}

/// A cookie for the server, kept for a year.
pub fn set_cookie(name: &str, value: &str) {
    if let Ok(document) = document().dyn_into::<web_sys::HtmlDocument>() {
        let _ = document.set_cookie(&[name, "=", value, "; Path=/; Max-Age=31536000; SameSite=Lax"].concat());
    }
}

/// A new element.
pub fn make(tag: &str, class: &str) -> Option<HtmlElement> {
    let element: HtmlElement = document().create_element(tag).ok()?.dyn_into().ok()?;
    element.set_class_name(class);
    Some(element)
}

/// An object of texts.
pub fn object(members: &[(&str, &str)]) -> JsValue {
    let object = js_sys::Object::new();
    for (key, value) in members {
        let _ = js_sys::Reflect::set(&object, &(*key).into(), &(*value).into());
    }
    object.into()
}

/// A member of a JavaScript object; undefined where there is none.
pub fn member(object: &JsValue, key: &str) -> JsValue {
    js_sys::Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

/// A text member of a JavaScript object.
pub fn text(object: &JsValue, key: &str) -> Option<String> {
    js_sys::Reflect::get(object, &key.into()).ok()?.as_string()
}

/// Whether the browser runs on a Mac, whose Cmd key is what Ctrl is elsewhere. iPads with a keyboard count.
pub fn is_mac() -> bool {
    let platform = text(&window().navigator(), "platform").unwrap_or_default();
    ["Mac", "iPad", "iPhone"].iter().any(|name| platform.starts_with(name))
}

/// A whole number as text. Formatting floats as floats would bring their code along.
pub fn whole(number: f64) -> String {
    (number as u64).to_string()
}

/// The whole number that a text is.
pub fn figure(text: &str) -> Option<f64> {
    text.parse::<u64>().ok().map(|number| number as f64)
}

/// A number member of a JavaScript object.
pub fn number(object: &JsValue, key: &str) -> Option<f64> {
    js_sys::Reflect::get(object, &key.into()).ok()?.as_f64()
}
