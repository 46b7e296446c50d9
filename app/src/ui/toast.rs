//! A message that floats above the page for a while, with an action that can still be taken.

use super::tone::Tone;
use leptos::prelude::*;

/// The message. It is a form: its buttons are sent to `action`. Place it in an element with the role `status`, so
/// that screen readers say it when it appears.
#[component]
pub fn Toast(
    /// What kind of message it is.
    tone: Tone,
    /// What happened.
    #[prop(into)]
    message: String,
    /// Where its buttons are posted to.
    action: &'static str,
    /// Hidden fields and buttons.
    children: Children,
) -> impl IntoView {
    view! {
        <form class="notice" data-tone=tone.as_str() method="post" action=action>
            <div class="notice-body"><p dir="auto">{message}</p></div>
            {children()}
        </form>
    }
}
