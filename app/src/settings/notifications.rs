//! How the reader is notified about inbox items. The form for e-mail posts to /settings/notifications.

use crate::ui::{
    button::{Button, Press},
    field::Choice,
    section::Section,
};
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
    view! { <Button script_only=true press=Press::Script attr:data-notify="">"Notify in this browser"</Button> }
}

/// The section with the reader's own choices.
pub fn notifications_section(email: EmailChoice) -> impl IntoView {
    let email = match email {
        EmailChoice::NotSent => {
            view! { <p class="meta">"This server sends no e-mail. Ask its operator."</p> }.into_any()
        }
        EmailChoice::NotForTokens => {
            view! { <p class="meta">"API tokens get no e-mail. Only people do."</p> }.into_any()
        }
        EmailChoice::Offered { wanted } => view! {
            <form class="form" method="post" action="/settings/notifications">
                <Choice name="email" value="yes" checked=wanted>
                    "E-mail me when something needs my decision in this workspace, or sessions are assigned to me"
                </Choice>
                <div class="form-actions"><Button>"Save notifications"</Button></div>
            </form>
        }
        .into_any(),
    };
    view! {
        <Section name="notifications" id="notifications" title="Notifications">
            <p class="meta">"An e-mail says which agent is waiting for you and links to the item. It never contains the proposal."</p>
            <div class="js-only form">
                <p class="meta">"The browser notifies you while Shiftbook is open in a tab in the background."</p>
                <div class="form-actions">{notify_button()}</div>
            </div>
            {email}
        </Section>
    }
}
