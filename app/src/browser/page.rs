//! Behaviour of every page: times, copy buttons, buttons that open dialogs, and fields in which Enter submits.

use super::{dom, theme, times};
use crate::browser::task::spawn_local;
use wasm_bindgen_futures::JsFuture;
use web_sys::{KeyboardEvent, MouseEvent};

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

/// Copies the text of a copy button and confirms it in the button for a moment.
fn copy(button: web_sys::HtmlElement) {
    let Some(mut text) = button.get_attribute("data-copy") else { return };
    if text.is_empty() {
        // The text is in the `pre` below the button, so it is not repeated in an attribute.
        let beside = button.closest(".tool-side").ok().flatten().and_then(|side| dom::find(&side, "pre"));
        text = beside.and_then(|pre| pre.text_content()).unwrap_or_default();
    }
    let promise = dom::window().navigator().clipboard().write_text(&text);
    spawn_local(async move {
        let said = if JsFuture::from(promise).await.is_ok() { "Copied" } else { "Press Ctrl C" };
        let Some(word) = dom::find(&button, "span") else { return };
        let before = word.text_content();
        if before.as_deref() == Some(said) {
            return;
        }
        word.set_text_content(Some(said));
        dom::after(1_500, move || word.set_text_content(before.as_deref()));
    });
}
