//! Buttons that submit the form around them.

use leptos::prelude::*;

/// How much weight a button has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The one thing to do here.
    Primary,
    /// One of several.
    Plain,
    /// Ends something.
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

/// A small submit button, as in rows. `about` completes the label for those who hear it out of its row.
pub fn submit_small(label: impl Into<String>, about: String) -> impl IntoView {
    view! {
        <button class="button" type="submit" data-size="small">{label.into()}<span class="hidden-text">" "{about}</span></button>
    }
}

/// A link that looks like a small button.
pub fn link_small(label: &'static str, about: String, href: String) -> impl IntoView {
    view! { <a class="button" data-size="small" href=href>{label}<span class="hidden-text">" "{about}</span></a> }
}
