//! Checkboxes.

use super::dom::HtmlElement;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

/// What a checkbox holds.
pub struct Checkbox {
    /// Whether it is ticked.
    pub is_ticked: bool,
    /// What it sends if it is ticked.
    pub value: String,
}

/// Reads a checkbox; `None` for another element.
pub fn read(element: &HtmlElement) -> Option<Checkbox> {
    let input: &HtmlInputElement = element.dyn_ref()?;
    Some(Checkbox { is_ticked: input.checked(), value: input.value() })
}

/// Ticks or unticks a checkbox, without an event.
pub fn set(element: &HtmlElement, is_ticked: bool) {
    let _ = js_sys::Reflect::set(element, &"checked".into(), &is_ticked.into());
}
