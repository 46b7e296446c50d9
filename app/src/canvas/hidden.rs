//! The hidden fields of every form of the page of a canvas.

use leptos::prelude::*;

/// The hidden fields of the forms of one page.
#[derive(Debug, Clone)]
pub(super) struct Hidden {
    /// Where forms are sent.
    pub(super) action: String,
    base: u64,
    key: String,
}

impl Hidden {
    /// The fields of a page at this version. `key` is different for each page that is rendered.
    pub(super) fn new(action: &str, version: u64, key: &str) -> Self {
        Self { action: action.to_owned(), base: version, key: key.to_owned() }
    }

    /// The version that the page shows, and an id of the change, so that a form that is sent twice changes the canvas
    /// once. `of` distinguishes the forms of the page.
    pub(super) fn fields(&self, of: &str) -> impl IntoView + use<> {
        view! {
            <input type="hidden" name="base" value=self.base.to_string()/>
            <input type="hidden" name="key" value=format!("{}-{of}", self.key)/>
        }
    }
}
