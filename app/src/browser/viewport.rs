//! The part of the page that is on the screen.

use super::dom::{self, HtmlElement};

/// Its height, pixels.
pub fn height() -> f64 {
    dom::window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or_default()
}

/// Whether the page was scrolled away from its top.
pub fn is_scrolled() -> bool {
    dom::window().scroll_y().is_ok_and(|y| y != 0.0)
}

/// Distance between its bottom and the end of the page, pixels.
pub fn distance_to_end() -> f64 {
    let page = dom::root().map_or(0, |root| root.scroll_height());
    f64::from(page) - dom::window().scroll_y().unwrap_or_default() - height()
}

/// Scrolls to the end of the page.
pub fn scroll_to_end() {
    if let Some(root) = dom::root() {
        dom::window().scroll_to_with_x_and_y(0.0, f64::from(root.scroll_height()));
    }
}

/// Scrolls down by this distance, pixels.
pub fn scroll_by(distance: f64) {
    dom::window().scroll_by_with_x_and_y(0.0, distance);
}

/// Distance between its top and the top of an element, pixels.
pub fn top_of(element: &HtmlElement) -> f64 {
    element.get_bounding_client_rect().top()
}

/// Whether a part of the element is on the screen.
pub fn shows(element: &HtmlElement) -> bool {
    let place = element.get_bounding_client_rect();
    place.height() > 0.0 && place.bottom() > 0.0 && place.top() < height()
}

/// Calls when the reader scrolls.
pub fn on_scroll(handle: impl FnMut() + 'static) {
    dom::when(&dom::window(), "scroll", handle);
}
