//! Messages: refusals, a recorded marker, and events that the server refused.

use super::{Work, work::Message};
use crate::{
    count::counted,
    ui::icon::{Icon, icon},
};
use leptos::prelude::*;

/// How long a success message is shown, in milliseconds.
#[cfg(feature = "hydrate")]
const GOOD_MS: i32 = 5_000;

/// The messages, below the buttons.
#[component]
pub fn Messages(work: Work) -> impl IntoView {
    let message = work.message;
    let is_bad = move || message.read().as_ref().is_some_and(|message| message.is_bad);
    let text = move || message.read().as_ref().map(|message| message.text.clone());
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| {
        let Some(Message { is_bad: false, .. }) = message.get() else { return };
        let shown = message.get_untracked();
        crate::browser::dom::after(GOOD_MS, move || {
            if message.get_untracked() == shown {
                message.set(None);
            }
        });
    });
    let refused = work.refused;
    let refused_text = move || {
        let count = counted(refused.read().len() as u32, "event");
        [&count, " not recorded: the working session had ended before the server received this."].concat()
    };
    let refused_json = move || ["[", &refused.read().join(",\n"), "]"].concat();
    let dismiss_refused = move |_| {
        #[cfg(feature = "hydrate")]
        super::control::dismiss_refused(work);
    };
    view! {
        <div class="said js-only" aria-live="polite">
            <div
                class="notice" data-part="said" data-tone=move || if is_bad() { "bad" } else { "good" }
                hidden=move || message.read().is_none()
            >
                <p class="notice-body">{text}</p>
                <button
                    class="button" type="button" data-look="quiet" data-shape="icon" aria-label="Dismiss"
                    on:click=move |_| message.set(None::<Message>)
                >
                    {icon(Icon::Close)}
                </button>
            </div>
            <div class="notice" data-tone="bad" data-part="refused" hidden=move || refused.read().is_empty()>
                <p class="notice-body">{refused_text}</p>
                <button class="button" type="button" data-size="small" data-copy=refused_json><span>"Copy"</span></button>
                <button
                    class="button" type="button" data-size="small" data-part="forget"
                    aria-label="Dismiss the events that were not recorded" on:click=dismiss_refused
                >
                    "Dismiss"
                </button>
            </div>
        </div>
    }
}
