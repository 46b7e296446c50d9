//! Tables. On a narrow screen a row becomes a block.

use super::content::Content;
use leptos::prelude::*;

/// One column: its heading, and how its cells are aligned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    label: String,
    is_number: bool,
    is_hidden: bool,
}

impl Column {
    /// A column of text.
    pub fn text(label: impl Into<String>) -> Self {
        Self { label: label.into(), is_number: false, is_hidden: false }
    }

    /// A column of figures, aligned at its end.
    pub fn number(label: impl Into<String>) -> Self {
        Self { is_number: true, ..Self::text(label) }
    }

    /// A column of buttons, whose heading only screen readers get.
    pub fn hidden(label: impl Into<String>) -> Self {
        Self { is_hidden: true, ..Self::text(label) }
    }
}

/// A table in a frame that scrolls sideways.
#[component]
pub fn Table(
    /// What the table shows: its name for screen readers.
    #[prop(into)]
    caption: String,
    /// The headings of the columns.
    columns: Vec<Column>,
    /// The rows, as `<tr>`.
    children: Content,
    /// Whether the frame itself takes the keyboard focus. Needed if no row has a link or a button, because a reader
    /// could not scroll the table sideways otherwise.
    #[prop(optional)]
    focusable: bool,
) -> impl IntoView {
    let heads = columns.into_iter().map(|Column { label, is_number, is_hidden }| {
        let label =
            if is_hidden { view! { <span class="hidden-text">{label}</span> }.into_any() } else { label.into_any() };
        if is_number {
            view! { <th scope="col" class="table-number">{label}</th> }.into_any()
        } else {
            view! { <th scope="col">{label}</th> }.into_any()
        }
    });
    let heads = heads.collect::<Vec<_>>();
    let label = focusable.then(|| caption.clone());
    view! {
        <div
            class="table-frame"
            tabindex=focusable.then_some("0")
            role=focusable.then_some("group")
            aria-label=label
        >
            <table class="table">
                <caption class="hidden-text">{caption}</caption>
                <thead><tr>{heads}</tr></thead>
                <tbody>{children.view()}</tbody>
            </table>
        </div>
    }
}
