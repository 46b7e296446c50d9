//! What the picker has to tell: refusals, a recorded marker, and events that were set aside.

use crate::ui::icon::{Icon, icon};
use leptos::prelude::*;

/// One thing said to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The words.
    pub words: String,
    /// Whether it went wrong; then it stays until it is dismissed.
    pub bad: bool,
}

/// How long good news stay.
#[cfg(feature = "hydrate")]
const GOOD_MS: u32 = 5_000;

/// Lines over the page, each with a button that takes it away.
#[component]
pub fn SaidLine(said: RwSignal<Option<Said>>, refused: RwSignal<Vec<String>>) -> impl IntoView {
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| {
        let now = said.get();
        if now.as_ref().is_some_and(|said| !said.bad) {
            gloo_timers::callback::Timeout::new(GOOD_MS, move || {
                if said.get_untracked() == now {
                    said.set(None);
                }
            })
            .forget();
        }
    });
    let tone = move || said.with(|said| if said.as_ref().is_some_and(|s| s.bad) { "bad" } else { "good" });
    let count = move || refused.with(Vec::len);
    let aside = move || match count() {
        1 => "1 event came too late: its working session had ended. It is in no log.".to_owned(),
        n => format!("{n} events came too late: their working session had ended. They are in no log."),
    };
    let json = move || refused.with(|events| format!("[{}]", events.join(",\n")));
    view! {
        <div class="said js-only" aria-live="polite">
            <div class="notice" data-tone=tone hidden=move || said.with(Option::is_none)>
                <p class="notice-body">{move || said.with(|said| said.as_ref().map(|s| s.words.clone()).unwrap_or_default())}</p>
                <button class="button" type="button" data-look="quiet" data-shape="icon" aria-label="Dismiss" on:click=move |_| said.set(None)>
                    {icon(Icon::Close)}
                </button>
            </div>
            <div class="notice" data-tone="bad" hidden=move || count() == 0>
                <p class="notice-body">{aside}</p>
                <button class="button" type="button" data-size="small" data-copy=json><span>"Copy"</span></button>
                <button
                    class="button" type="button" data-size="small" aria-label="Dismiss the events that came too late"
                    on:click=move |_| {
                        #[cfg(feature = "hydrate")]
                        super::control::dismiss_refused();
                    }
                >
                    "Dismiss"
                </button>
            </div>
        </div>
    }
}
