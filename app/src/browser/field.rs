//! Text areas with a cursor.

use super::dom::{self, HtmlElement};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlTextAreaElement};

/// A field of the page in which several lines can be typed.
#[derive(Debug, Clone)]
pub struct TextArea(HtmlTextAreaElement);

impl TextArea {
    /// The text area that an element is.
    pub fn of(element: HtmlElement) -> Option<Self> {
        element.dyn_into().ok().map(Self)
    }

    /// The text area below an element that has the focus.
    pub fn focused_in(root: &Element) -> Option<Self> {
        let focused: HtmlElement = dom::document().active_element()?.dyn_into().ok()?;
        if root.contains(Some(&focused)) { Self::of(focused) } else { None }
    }

    /// The text area of an event that matches a selector.
    pub fn at(event: &Event, selector: &str) -> Option<Self> {
        dom::closest(event, selector).and_then(Self::of)
    }

    /// The typed text.
    pub fn text(&self) -> String {
        self.0.value()
    }

    /// Begin and end of the selection, in UTF-16 code units. Both are the position of the cursor if nothing is
    /// selected.
    pub fn selection(&self) -> (usize, usize) {
        let of = |position: Result<Option<u32>, _>| position.ok().flatten().unwrap_or_default() as usize;
        (of(self.0.selection_start()), of(self.0.selection_end()))
    }

    /// The value of an attribute; `None` without it.
    pub fn attribute(&self, name: &str) -> Option<String> {
        self.0.get_attribute(name)
    }

    /// Whether it has the focus.
    pub fn is_focused(&self) -> bool {
        dom::document().active_element().is_some_and(|active| active.is_same_node(Some(&self.0)))
    }

    /// Shows another text. `moved` says where a position of the old text is in it; the selection is only set in the
    /// field with the focus, because browsers focus a field whose selection is set.
    pub fn show(&self, text: &str, moved: impl Fn(&str, usize) -> usize) {
        let old = self.text();
        if old == text {
            return;
        }
        let (start, end) = self.selection();
        self.0.set_value(text);
        if self.is_focused() {
            self.select(moved(&old, start), moved(&old, end));
        }
    }

    /// Moves the focus to the field, with the cursor at a position.
    pub fn focus(&self, at: usize) {
        let _ = self.0.focus();
        self.select(at, at);
    }

    /// Moves the focus to the field, with the cursor where it was.
    pub fn focus_again(&self) {
        let _ = self.0.focus();
    }

    fn select(&self, start: usize, end: usize) {
        let _ = self.0.set_selection_range(position(start), position(end));
    }

    /// Makes the field as high as its text, in browsers that do not do so by `field-sizing`.
    pub fn grow(&self) {
        let style = self.0.style();
        if dom::member(&style, "fieldSizing").is_undefined() {
            let _ = style.set_property("height", "auto");
            let height = [&self.0.scroll_height().to_string(), "px"].concat();
            let _ = style.set_property("height", &height);
        }
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
