//! Behaviour of every page: times, copy buttons, buttons that open dialogs, and fields in which Enter submits.

use super::{
    dom::{self, HtmlElement},
    theme, times,
};
use crate::browser::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlInputElement, KeyboardEvent, MouseEvent};

/// Attaches the handlers. Called once per page.
pub fn start(open: impl Fn(&str) + 'static) {
    times::start();
    theme::follow_other_tabs();
    dom::on(&dom::document(), "click", move |event: MouseEvent| {
        if let Some(button) = dom::closest(&event, "[data-copy]") {
            copy(button);
        } else if let Some(name) = dom::closest(&event, "[data-open]").and_then(|b| b.get_attribute("data-open")) {
            open(&name);
        }
    });
    dom::on(&dom::document(), "keydown", on_key);
}

/// Enter submits in fields that the page marks for it. Before the island that sends the form has loaded, the browser
/// sends it.
fn on_key(event: KeyboardEvent) {
    if event.key() != "Enter" || event.shift_key() || event.is_composing() {
        return;
    }
    let form = dom::closest(&event, "[data-enter]").and_then(|field| field.closest("form").ok()?);
    if let Some(form) = form
        && dom::find(&form, ".enter-hint").is_some_and(|hint| hint.offset_width() > 0)
        && let Some(send) = dom::find(&form, "button[type=submit]")
    {
        event.prevent_default();
        send.click();
    }
}

/// Copies the text of a copy button and confirms it in the button for a moment. If that fails, selects the text where
/// the page shows it.
fn copy(button: HtmlElement) {
    let Some(mut text) = button.get_attribute("data-copy") else { return };
    let around = button.closest(".copy-line, .copy-field, .tool-side").ok().flatten();
    let shown = around.and_then(|around| dom::find(&around, ".output, pre, input"));
    if text.is_empty() {
        // The text is below the button, so it is not repeated in an attribute.
        text = shown.as_ref().and_then(|pre| pre.text_content()).unwrap_or_default();
    }
    let navigator = dom::window().navigator();
    // Over plain HTTP, browsers have no clipboard except on localhost.
    let has_clipboard = !dom::member(&navigator, "clipboard").is_undefined();
    let promise = has_clipboard.then(|| navigator.clipboard().write_text(&text));
    spawn_local(async move {
        let is_copied = match promise {
            Some(promise) => JsFuture::from(promise).await.is_ok(),
            None => false,
        };
        let said = match shown {
            _ if is_copied => "Copied",
            Some(shown) => {
                select(&shown);
                "Press Ctrl C"
            }
            None => "Not copied",
        };
        let Some(word) = dom::find(&button, "span") else { return };
        let before = word.text_content();
        if before.as_deref() == Some(said) {
            return;
        }
        word.set_text_content(Some(said));
        dom::after(1_500, move || word.set_text_content(before.as_deref()));
    });
}

/// Selects the text of an element, or of a text field.
fn select(shown: &HtmlElement) {
    if let Some(field) = shown.dyn_ref::<HtmlInputElement>() {
        let _ = field.focus();
        field.select();
    } else if let Ok(Some(selection)) = dom::window().get_selection() {
        let _ = selection.select_all_children(shown);
    }
}
