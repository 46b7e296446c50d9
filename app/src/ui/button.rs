//! Submit buttons, copy buttons, and links that look like buttons.

use super::icon::{Icon, icon};
use leptos::prelude::*;

/// The visual weight of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The main action of a form.
    Primary,
    /// One of several actions.
    Plain,
    /// An action that ends or removes something.
    Danger,
}

impl Look {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Plain => "plain",
            Self::Danger => "danger",
        }
    }
}

/// A submit button.
pub fn submit(label: impl Into<String>, look: Look) -> impl IntoView {
    view! { <button class="button" type="submit" data-look=look.as_str()>{label.into()}</button> }
}

/// A small submit button, for rows. `about` completes the label for screen readers.
pub fn submit_small(label: impl Into<String>, about: String) -> impl IntoView {
    view! {
        <button class="button" type="submit" data-size="small">{label.into()}<span class="hidden-text">" "{about}</span></button>
    }
}

/// A link styled as a small button. `about` completes the label for screen readers.
pub fn link_small(label: impl Into<String>, about: String, href: String) -> impl IntoView {
    view! { <a class="button" data-size="small" href=href>{label.into()}<span class="hidden-text">" "{about}</span></a> }
}

/// A line of monospaced text with a copy button, which needs scripts. `what` names the text in the button's label.
pub fn copy_line(text: String, what: &'static str) -> impl IntoView {
    view! {
        <div class="copy-line">
            <pre tabindex="0">{text.clone()}</pre>
            <button class="button js-only" type="button" data-size="small" data-copy=text aria-label=format!("Copy {what}")>
                {icon(Icon::Copy)}
                <span>"Copy"</span>
            </button>
        </div>
    }
}
