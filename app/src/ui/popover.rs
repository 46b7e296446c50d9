//! Parts that open and close without scripts: sheets in the page, and popovers above it.

use super::{
    button::Look,
    content::Content,
    icon::{Icon, icon},
};
use leptos::prelude::*;

/// A part of the page that is folded away, usually a form.
#[component]
pub fn Sheet(
    /// The line that is always visible and opens the rest.
    #[prop(into)]
    summary: String,
    /// Whether it is open at the start.
    #[prop(optional)]
    open: bool,
    /// The rest.
    children: Content,
) -> impl IntoView {
    view! {
        <details class="sheet" open=open>
            <summary>{summary}</summary>
            {children.view()}
        </details>
    }
}

/// Where the content of a popover opens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Opens {
    /// Below its button.
    #[default]
    Below,
    /// Above the bar that its button is in, as wide as the bar.
    AboveBar,
    /// Below its button, in the page: what is beside it stays in sight.
    InPlace,
}

impl Opens {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::AboveBar => "above-bar",
            Self::InPlace => "in-place",
        }
    }
}

/// A button that opens a form above the page.
#[component]
pub fn Popover(
    /// The label of the button.
    label: &'static str,
    /// The icon of the button.
    #[prop(optional)]
    picture: Option<Icon>,
    /// The tooltip: what it opens, and its key.
    #[prop(optional)]
    title: Option<&'static str>,
    /// The name of the shortcut that presses it.
    #[prop(optional)]
    shortcut: Option<&'static str>,
    /// Popovers with the same group close each other.
    #[prop(optional)]
    group: Option<&'static str>,
    /// The visual weight of the button.
    #[prop(optional)]
    look: Look,
    /// Whether the button is in a row.
    #[prop(optional)]
    small: bool,
    /// Where the content opens.
    #[prop(optional)]
    opens: Opens,
    /// Whether it is open at the start.
    #[prop(optional)]
    open: bool,
    /// Whether its content decides an item, so that a shortcut can send it.
    #[prop(optional)]
    decides: bool,
    /// Where the content is posted to; without it, the content belongs to the form around the popover.
    #[prop(optional, into)]
    action: Option<String>,
    /// The content.
    children: Content,
) -> impl IntoView {
    let content = match action {
        Some(action) => {
            view! { <form class="popover-content" method="post" action=action>{children.view()}</form> }.into_any()
        }
        None => view! { <div class="popover-content">{children.view()}</div> }.into_any(),
    };
    view! {
        <details
            class="popover"
            name=group
            open=open
            data-opens=opens.as_str()
            data-decides=decides.then_some("")
        >
            <summary
                class="button"
                data-look=look.attribute()
                data-size=small.then_some("small")
                data-key=shortcut
                data-shortcut=title.and_then(key_in)
                title=title
            >
                {picture.map(icon)}
                {label}
            </summary>
            {content}
        </details>
    }
}

/// The key that a tooltip names at its end, such as the `r` of `Deny, with a reason (r)`.
fn key_in(title: &str) -> Option<&str> {
    title.strip_suffix(')')?.rsplit_once('(').map(|(_, key)| key)
}
