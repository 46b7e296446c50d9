//! Dragging with a mouse, a pen or a finger.

use super::dom::{self, HtmlElement};
use web_sys::PointerEvent;

/// Sends all further events of this pointer to an element, until the pointer is lifted.
pub fn capture(element: &HtmlElement, event: &PointerEvent) {
    let _ = element.set_pointer_capture(event.pointer_id());
}

/// Whether it is the main button, a finger or a pen, without a key that changes what a press means.
pub fn is_plain(event: &PointerEvent) -> bool {
    event.button() == 0 && !event.ctrl_key() && !event.meta_key()
}

/// The first element of these whose middle is below the pointer.
pub fn first_below<'a>(elements: &'a [HtmlElement], event: &PointerEvent) -> Option<&'a HtmlElement> {
    let y = f64::from(event.client_y());
    elements.iter().find(|element| {
        let place = element.get_bounding_client_rect();
        y < place.top() + place.height() / 2.0
    })
}

/// The element of an event that matches a selector.
pub fn closest(event: &PointerEvent, selector: &str) -> Option<HtmlElement> {
    dom::closest(event, selector)
}
