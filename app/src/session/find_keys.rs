//! The keys of the search in a log. Only in the WASM build.
//!
//! They press the links of the search, so each of them loads a page. Shortcuts of the palette come first. They leave a
//! key alone that does nothing on the page. The question about the rating has the key `n` too, and is hidden
//! while matches are shown (`style/session_page.css`).

use crate::{
    browser::dom::{self, HtmlElement},
    palette::TEXT_FIELDS,
};
use leptos::ev::KeyboardEvent;

/// The field of the search.
const FIELD: &str = ".find [name=find]";
/// What Escape closes first.
const ABOVE_PAGE: &str = ".popover[open]";

/// Attaches the handler.
pub fn start() {
    dom::on(&dom::window(), "keydown", |event: KeyboardEvent| {
        let has_modifier = event.ctrl_key() || event.meta_key() || event.alt_key();
        if has_modifier || event.repeat() || event.default_prevented() || event.is_composing() {
            return;
        }
        let key = event.key();
        if let Some(field) = dom::closest(&event, FIELD) {
            match key.as_str() {
                "Enter" if is_unchanged(&field) => press(&event, way(&event)),
                "Escape" => press(&event, "clear"),
                _ => {}
            }
        } else if dom::closest(&event, TEXT_FIELDS).is_none() {
            match key.as_str() {
                "n" | "N" => press(&event, way(&event)),
                "Escape" if find(ABOVE_PAGE).is_none() => press(&event, "clear"),
                "f" => focus(&event),
                _ => {}
            }
        }
    });
}

fn find(selector: &str) -> Option<HtmlElement> {
    dom::root().and_then(|root| dom::find(&root, selector))
}

/// The direction of a key: back with Shift.
fn way(event: &KeyboardEvent) -> &'static str {
    if event.shift_key() { "previous" } else { "next" }
}

/// Whether the field has the text that was looked for. With another text Enter begins another search.
fn is_unchanged(field: &HtmlElement) -> bool {
    let typed = find(".find").and_then(|form| form.get_attribute("data-typed")).unwrap_or_default();
    !typed.is_empty() && dom::text(field, "value").is_some_and(|text| text == typed)
}

/// Follows a link of the search, if the page has it.
fn press(event: &KeyboardEvent, name: &str) {
    if let Some(link) = find(&["[data-find=", name, "]"].concat()) {
        event.prevent_default();
        link.click();
    }
}

fn focus(event: &KeyboardEvent) {
    if let Some(field) = find(FIELD) {
        event.prevent_default();
        let _ = field.focus();
    }
}
