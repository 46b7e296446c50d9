//! Elements, events and storage. Event listeners are never removed, because every navigation loads a new page.

use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Document, Element, Event, EventTarget, PageTransitionEvent, ScrollIntoViewOptions, ScrollLogicalPosition, Window,
};

/// An element of the page, as the functions of this folder find, read and change it, and a form.
pub use web_sys::{HtmlElement, HtmlFormElement};

/// The window. It exists wherever islands run.
pub fn window() -> Window {
    leptos::prelude::window()
}

/// The browser's `document`.
pub fn document() -> Document {
    leptos::prelude::document()
}

/// The first descendant that matches a selector.
pub fn find(root: &Element, selector: &str) -> Option<HtmlElement> {
    root.query_selector(selector).ok()??.dyn_into().ok()
}

/// Whether no element of the page has the focus.
pub fn has_no_focus() -> bool {
    let document = document();
    let body = document.body();
    document.active_element().is_none_or(|active| body.is_some_and(|body| active.is_same_node(Some(&body))))
}

/// All descendants that match a selector.
pub fn find_all(root: &Element, selector: &str) -> Vec<HtmlElement> {
    let Ok(found) = root.query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|i| found.get(i)?.dyn_into().ok()).collect()
}

/// The descendant that the fragment of an address names.
pub fn target(root: &Element, fragment: &str) -> Option<HtmlElement> {
    find(root, &["[id=\"", fragment, "\"]"].concat())
}

/// The document's root element.
pub fn root() -> Option<HtmlElement> {
    document().document_element()?.dyn_into().ok()
}

/// Workspace and person for whom the page was rendered. Empty on a page of no one.
pub fn owner() -> String {
    let element = root().and_then(|root| find(&root, "[data-owner]"));
    element.and_then(|element| element.get_attribute("data-owner")).unwrap_or_default()
}

/// Adds an event listener for the lifetime of the page.
pub fn on<E: JsCast + 'static>(target: &EventTarget, event: &str, mut handle: impl FnMut(E) + 'static) {
    listen(target, event, false, Box::new(move |event: Event| handle(event.unchecked_into())));
}

/// One type of closure for all: each other one would bring its own glue.
fn listen(target: &EventTarget, event: &str, is_capture: bool, handle: Box<dyn FnMut(Event)>) {
    let closure = Closure::wrap(handle);
    let _ = target.add_event_listener_with_callback_and_bool(event, closure.as_ref().unchecked_ref(), is_capture);
    closure.forget();
}

/// Like [`on`], in the capture phase, for events that do not bubble.
pub fn on_capture<E: JsCast + 'static>(target: &EventTarget, event: &str, mut handle: impl FnMut(E) + 'static) {
    listen(target, event, true, Box::new(move |event: Event| handle(event.unchecked_into())));
}

/// Calls once after this time, in milliseconds.
pub fn after(millis: i32, call: impl FnOnce() + 'static) {
    let call: Box<dyn FnOnce()> = Box::new(call);
    let call = Closure::once_into_js(call);
    let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(call.unchecked_ref(), millis);
}

/// Calls before the next frame is drawn. A page that no one sees has no frames.
pub fn frame(call: impl FnOnce() + 'static) {
    let call: Box<dyn FnOnce()> = Box::new(call);
    let call = Closure::once_into_js(call);
    let _ = window().request_animation_frame(call.unchecked_ref());
}

/// Waits this time, in milliseconds.
pub async fn pause(millis: i32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, millis);
    });
    let _ = JsFuture::from(promise).await;
}

/// Calls at this interval, in milliseconds.
pub fn every(millis: i32, call: impl FnMut() + 'static) {
    let call: Box<dyn FnMut()> = Box::new(call);
    let closure = Closure::wrap(call);
    let _ = window().set_interval_with_callback_and_timeout_and_arguments_0(closure.as_ref().unchecked_ref(), millis);
    closure.forget();
}

/// The closest element of an event's target that matches a selector, the target included.
pub fn closest(event: &Event, selector: &str) -> Option<HtmlElement> {
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest(selector).ok()??.dyn_into().ok()
}

/// Local storage (shared by all tabs); `None` if the browser blocks it.
pub fn local_storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// Session storage (of this tab, kept across its pages); `None` if the browser blocks it.
pub fn session_storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

/// The local storage value of a key.
pub fn stored(key: &str) -> Option<String> {
    local_storage()?.get_item(key).ok()?
}

/// Sets the local storage value of a key; `None` removes it.
pub fn store(key: &str, value: Option<&str>) {
    if let Some(storage) = local_storage() {
        let _ = match value {
            Some(value) => storage.set_item(key, value),
            None => storage.remove_item(key),
        };
    }
}

/// Calls whenever another tab changes the local storage value of this key.
pub fn on_stored(key: &'static str, mut changed: impl FnMut() + 'static) {
    on(&window(), "storage", move |event: web_sys::StorageEvent| {
        if event.key().as_deref() == Some(key) {
            changed();
        }
    });
}

/// Sets a cookie that is kept for a year.
pub fn set_cookie(name: &str, value: &str) {
    if let Ok(document) = document().dyn_into::<web_sys::HtmlDocument>() {
        let _ = document.set_cookie(&[name, "=", value, "; Path=/; Max-Age=31536000; SameSite=Lax"].concat());
    }
}

/// Creates an element with a class.
pub fn make(tag: &str, class: &str) -> Option<HtmlElement> {
    let element: HtmlElement = document().create_element(tag).ok()?.dyn_into().ok()?;
    element.set_class_name(class);
    Some(element)
}

/// A JavaScript object with string members.
pub fn object(members: &[(&str, &str)]) -> JsValue {
    let object = js_sys::Object::new();
    for (key, value) in members {
        let _ = js_sys::Reflect::set(&object, &(*key).into(), &(*value).into());
    }
    object.into()
}

/// A member of a JavaScript object; undefined if it does not exist.
pub fn member(object: &JsValue, key: &str) -> JsValue {
    js_sys::Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

/// A string member of a JavaScript object.
pub fn text(object: &JsValue, key: &str) -> Option<String> {
    js_sys::Reflect::get(object, &key.into()).ok()?.as_string()
}

/// Whether the browser runs on a Mac, where Cmd takes the place of Ctrl. Includes iPads with a keyboard.
pub fn is_mac() -> bool {
    let platform = text(&window().navigator(), "platform").unwrap_or_default();
    ["Mac", "iPad", "iPhone"].iter().any(|name| platform.starts_with(name))
}

/// A whole number as text. Avoids the float formatter, which would add to the WASM size.
pub fn integer_text(number: f64) -> String {
    (number as u64).to_string()
}

/// Parses a whole number.
pub fn figure(text: &str) -> Option<f64> {
    text.parse::<u64>().ok().map(|number| number as f64)
}

/// A number member of a JavaScript object.
pub fn number(object: &JsValue, key: &str) -> Option<f64> {
    js_sys::Reflect::get(object, &key.into()).ok()?.as_f64()
}

/// Like [`on`], for events that say no more than that they happened.
pub fn when(target: &EventTarget, event: &str, mut call: impl FnMut() + 'static) {
    on(target, event, move |_: Event| call());
}

/// Calls after each click inside an element that matches a selector.
pub fn on_click(selector: &'static str, mut call: impl FnMut() + 'static) {
    on(&document(), "click", move |event: Event| {
        if closest(&event, selector).is_some() {
            call();
        }
    });
}

/// Calls when the back/forward cache has brought this page back as it was.
pub fn on_restored(mut call: impl FnMut() + 'static) {
    on(&window(), "pageshow", move |event: PageTransitionEvent| {
        if event.persisted() {
            call();
        }
    });
}

/// The first form below an element.
pub fn find_form(root: &Element) -> Option<HtmlFormElement> {
    find(root, "form")?.dyn_into().ok()
}

/// Scrolls an element into view, no further than needed.
pub fn scroll_to_nearest(element: &Element) {
    let nearest = ScrollIntoViewOptions::new();
    nearest.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&nearest);
}
