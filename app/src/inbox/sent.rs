//! A form that was submitted. Only in the WASM build.

use super::item::Row;
use crate::browser::dom::HtmlElement;

/// A form that was submitted.
#[derive(Clone)]
pub struct Sent {
    /// Path of its server function.
    pub path: String,
    /// Its encoded fields.
    pub fields: String,
    /// The item whose decision is undone.
    pub undone: Option<String>,
    /// The rows that it changes.
    pub leaving: Vec<Row>,
    /// The item, or the selection, that was shown.
    pub item: Option<HtmlElement>,
}

impl Sent {
    /// Number of decisions that it has.
    pub fn decisions(&self) -> usize {
        self.leaving.len().max(1)
    }
}
