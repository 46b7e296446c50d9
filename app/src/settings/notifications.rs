//! How the reader is notified about inbox items. The form for e-mail posts to /settings/notifications.

use crate::ui::button::{Look, submit};
use leptos::prelude::*;

/// Whether e-mail is available, and whether the reader wants it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EmailChoice {
    /// The operator has not configured e-mail.
    #[default]
    NotSent,
    /// E-mail is available.
    Offered {
        /// Whether the reader has turned it on.
        wanted: bool,
    },
    /// E-mail is available, but the reader is an API token.
    NotForTokens,
}

/// The button that turns browser notifications on or off. The browser sets its label, because only it knows the
/// state.
pub fn notify_button() -> impl IntoView {
    view! { <button class="button js-only" type="button" data-notify>"Notify in this browser"</button> }
}

/// The section with the reader's own choices.
pub fn notifications_section(email: EmailChoice) -> impl IntoView {
    let email = match email {
        EmailChoice::NotSent => {
            view! { <p class="meta">"This server sends no e-mail, because [smtp] is not configured."</p> }.into_any()
        }
        EmailChoice::NotForTokens => {
            view! { <p class="meta">"API tokens get no e-mail. Only people do."</p> }.into_any()
        }
        EmailChoice::Offered { wanted } => view! {
            <form class="form" method="post" action="/settings/notifications">
                <label class="choice">
                    <input type="checkbox" name="email" value="yes" checked=wanted/>
                    <span>"E-mail me when something needs my decision in this workspace"</span>
                </label>
                <div class="form-actions">{submit("Save notifications", Look::Plain)}</div>
            </form>
        }
        .into_any(),
    };
    view! {
        <section class="section" id="notifications" aria-labelledby="notifications-title">
            <h2 id="notifications-title">"Notifications"</h2>
            <p class="meta">"An e-mail says which agent is waiting for you and links to the item. It never contains the proposal."</p>
            <div class="js-only form">
                <p class="meta">"The browser notifies you while Shiftbook is open in a tab in the background."</p>
                <div class="form-actions">{notify_button()}</div>
            </div>
            {email}
        </section>
    }
}
