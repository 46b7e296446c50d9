//! The buttons of the editor. They are of one type, whatever a press does.

use crate::{
    browser::view::{BrowserView, browser_view, reactive},
    ui::{
        button::{Button, Look, Press},
        icon::{Icon, icon},
    },
};
use leptos::prelude::*;

/// A button with a label.
pub fn button(label: &str, look: Look, press: impl FnMut() + Send + 'static) -> BrowserView {
    labelled_button(label.to_owned(), look, false, Box::new(press))
}

/// A button with a label, in a row.
pub fn small_button(label: &str, look: Look, press: impl FnMut() + Send + 'static) -> BrowserView {
    labelled_button(label.to_owned(), look, true, Box::new(press))
}

fn labelled_button(label: String, look: Look, small: bool, mut press: Box<dyn FnMut() + Send>) -> BrowserView {
    browser_view(move || view! { <Button press=Press::Script small look on:click=move |_| press()>{label}</Button> })
}

/// The button that removes a row or a column. The label names it: it is not the only one of its table.
pub fn remove_button(label: Memo<String>, press: impl FnMut() + Send + 'static) -> BrowserView {
    closing_button(label, Box::new(press))
}

fn closing_button(label: Memo<String>, mut press: Box<dyn FnMut() + Send>) -> BrowserView {
    browser_view(move || {
        view! {
            <button
                class="button" type="button" data-look="quiet" data-shape="icon" on:click=move |_| press()
                aria-label=reactive(move || label.get()) title=reactive(move || label.get())
            >
                {icon(Icon::Close)}
            </button>
        }
    })
}
