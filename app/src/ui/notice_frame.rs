//! The frame of a message in the page: its colour, its icon, and how screen readers say it. Islands put what follows
//! their state into it; pages of the server use `ui::notice`.

use super::{
    icon::{Icon, icon},
    tone::Tone,
};
use leptos::prelude::*;

impl Tone {
    const fn picture(self) -> Icon {
        match self {
            Self::Good => Icon::Completed,
            Self::Wait | Self::Bad => Icon::Alert,
        }
    }

    /// Errors interrupt a screen reader; the others do not.
    const fn role(self) -> &'static str {
        match self {
            Self::Good => "status",
            Self::Wait => "note",
            Self::Bad => "alert",
        }
    }
}

/// A message in the page.
#[component]
pub fn NoticeFrame(
    /// What kind of message it is.
    tone: Tone,
    /// The message, as paragraphs.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="notice" data-tone=tone.as_str() role=tone.role()>
            {icon(tone.picture())}
            <div class="notice-body">{children()}</div>
        </div>
    }
}
