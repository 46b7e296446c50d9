//! Elements around an element, and their order.

use super::dom::{self, HtmlElement};
use wasm_bindgen::JsCast;
use web_sys::{Event, Node};

/// The closest element around this one that matches a selector, this one included.
pub fn closest(element: &HtmlElement, selector: &str) -> Option<HtmlElement> {
    element.closest(selector).ok()??.dyn_into().ok()
}

/// The element that directly contains this one.
pub fn parent(element: &HtmlElement) -> Option<HtmlElement> {
    element.parent_element()?.dyn_into().ok()
}

/// The element behind this one with the same parent.
pub fn next(element: &HtmlElement) -> Option<HtmlElement> {
    element.next_element_sibling()?.dyn_into().ok()
}

/// Puts an element into a parent: before this child of it, or at its end without one.
pub fn insert(parent: &HtmlElement, new: &HtmlElement, before: Option<&HtmlElement>) {
    let before: Option<&Node> = before.map(AsRef::as_ref);
    let _ = parent.insert_before(new, before);
}

/// Puts an element directly behind another one.
pub fn put_after(element: &HtmlElement, new: &HtmlElement) {
    if let Some(parent) = element.parent_element() {
        let _ = parent.insert_before(new, element.next_sibling().as_ref());
    }
}

/// Calls with the closest element that matches the selector when a `details` element below this one is folded or
/// unfolded.
pub fn on_toggle(element: &HtmlElement, selector: &'static str, mut handle: impl FnMut(HtmlElement) + 'static) {
    dom::on_capture(element, "toggle", move |event: Event| {
        if let Some(found) = dom::closest(&event, selector) {
            handle(found);
        }
    });
}
