//! Tables. On a narrow screen a row becomes a block.

use super::content::Content;
use leptos::prelude::*;

/// The order of the rows by the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The smallest or oldest first.
    Ascending,
    /// The largest or newest first.
    Descending,
}

impl Order {
    /// The value of `aria-sort`.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
        }
    }
}

/// One column: its heading, and how its cells are aligned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    label: String,
    is_number: bool,
    is_hidden: bool,
    href: Option<String>,
    order: Option<Order>,
}

impl Column {
    /// A column of text.
    pub fn text(label: impl Into<String>) -> Self {
        Self { label: label.into(), is_number: false, is_hidden: false, href: None, order: None }
    }

    /// A column of figures, aligned at its end.
    pub fn number(label: impl Into<String>) -> Self {
        Self { is_number: true, ..Self::text(label) }
    }

    /// A column of buttons, whose heading only screen readers get.
    pub fn hidden(label: impl Into<String>) -> Self {
        Self { is_hidden: true, ..Self::text(label) }
    }

    /// Makes the heading a link to the list in another order. `order` is that of the rows, if they are sorted by this
    /// column.
    pub fn leads_to(self, href: String, order: Option<Order>) -> Self {
        Self { href: Some(href), order, ..self }
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
    let heads = columns.into_iter().map(|Column { label, is_number, is_hidden, href, order }| {
        let label = match href {
            _ if is_hidden => view! { <span class="hidden-text">{label}</span> }.into_any(),
            Some(href) => view! { <a class="quiet" href=href>{label}</a> }.into_any(),
            None => label.into_any(),
        };
        let order = order.map(Order::as_str);
        if is_number {
            view! { <th scope="col" class="table-number" aria-sort=order>{label}</th> }.into_any()
        } else {
            view! { <th scope="col" aria-sort=order>{label}</th> }.into_any()
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
