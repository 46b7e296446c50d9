//! Buttons, links that look like buttons, and lines of text with a copy button.
//!
//! An attribute that few buttons have is passed with `attr:`, for example `attr:data-key="approve"`.

use super::icon::{Icon, icon};
use leptos::prelude::*;

/// The visual weight of a button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Look {
    /// The main action of a form.
    Primary,
    /// One of several actions.
    #[default]
    Plain,
    /// An action beside the content, without a border.
    Quiet,
    /// An action that ends or removes something.
    Danger,
}

impl Look {
    /// The value of `data-look`; a plain button has none.
    pub const fn attribute(self) -> Option<&'static str> {
        match self {
            Self::Primary => Some("primary"),
            Self::Plain => None,
            Self::Quiet => Some("quiet"),
            Self::Danger => Some("danger"),
        }
    }
}

/// What a press does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Press {
    /// Sends the form.
    #[default]
    Submit,
    /// Nothing without scripts.
    Script,
}

impl Press {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Script => "button",
        }
    }
}

/// The words that complete a label for screen readers.
fn about_view(about: String) -> Option<impl IntoView> {
    (!about.is_empty()).then(|| view! { <span class="hidden-text">" "{about}</span> })
}

/// A button with a label.
#[component]
pub fn Button(
    /// The label.
    children: Children,
    /// The visual weight.
    #[prop(optional)]
    look: Look,
    /// Whether it is in a row.
    #[prop(optional)]
    small: bool,
    /// What a press does.
    #[prop(optional)]
    press: Press,
    /// The icon before the label.
    #[prop(optional)]
    picture: Option<Icon>,
    /// The form field that a press sends.
    #[prop(optional)]
    name: Option<&'static str>,
    /// The value of that field.
    #[prop(optional, into)]
    value: Option<String>,
    /// The tooltip: what a press does, and its key.
    #[prop(optional, into)]
    title: Option<String>,
    /// Completes the label for screen readers.
    #[prop(optional, into)]
    about: String,
    /// Whether it cannot be pressed.
    #[prop(optional)]
    disabled: bool,
    /// Whether what it started is still in progress. It cannot be pressed meanwhile.
    #[prop(optional)]
    busy: bool,
    /// Whether it needs scripts, so that it is hidden without them.
    #[prop(optional)]
    script_only: bool,
) -> impl IntoView {
    view! {
        <button
            class=if script_only { "button js-only" } else { "button" }
            type=press.as_str()
            name=name
            value=value
            data-look=look.attribute()
            data-size=small.then_some("small")
            title=title
            disabled=disabled || busy
            aria-busy=busy.then_some("true")
        >
            {picture.map(icon)}
            {children()}
            {about_view(about)}
        </button>
    }
}

/// A button that shows an icon alone. Its tooltip is its name, and its key if it has one.
#[component]
pub fn IconButton(
    /// The icon.
    picture: Icon,
    /// The name for screen readers.
    label: &'static str,
    /// The tooltip; the label if it is absent.
    #[prop(optional)]
    title: Option<&'static str>,
    /// What a press does.
    #[prop(optional)]
    press: Press,
    /// Whether it cannot be pressed.
    #[prop(optional)]
    disabled: bool,
) -> impl IntoView {
    view! {
        <button
            class="button"
            type=press.as_str()
            data-look="quiet"
            data-shape="icon"
            aria-label=label
            title=title.unwrap_or(label)
            disabled=disabled
        >
            {icon(picture)}
        </button>
    }
}

/// A link that looks like a button.
#[component]
pub fn ButtonLink(
    /// The address.
    #[prop(into)]
    href: String,
    /// The id, if scripts or links refer to it.
    #[prop(optional)]
    id: Option<&'static str>,
    /// The label.
    children: Children,
    /// The visual weight.
    #[prop(optional)]
    look: Look,
    /// Whether it is in a row.
    #[prop(optional)]
    small: bool,
    /// The tooltip: where it leads, and its key.
    #[prop(optional, into)]
    title: Option<String>,
    /// Completes the label for screen readers.
    #[prop(optional, into)]
    about: String,
) -> impl IntoView {
    view! {
        <a class="button" id=id href=href data-look=look.attribute() data-size=small.then_some("small") title=title>
            {children()}
            {about_view(about)}
        </a>
    }
}

/// A line of monospaced text with a copy button, which needs scripts.
#[component]
pub fn CopyLine(
    /// The text to copy.
    text: String,
    /// What the text is, for the button's name.
    what: &'static str,
) -> impl IntoView {
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
