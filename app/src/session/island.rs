//! What a reader does with a transcript, and the pill that says something came.

use crate::{
    count::counted,
    ui::icon::{Icon, icon},
};
use leptos::prelude::*;

/// How far a jump loads beyond its target, events.
pub const BEYOND_TARGET: u64 = 100;

/// The controls, and the live tail behind them. `last_sequence` is the newest event the page has seen.
#[island(lazy)]
pub fn TranscriptControls(
    /// Id of the session whose transcript is shown.
    session_id: String,
    /// The filter of the address; may be empty.
    kinds: String,
    /// Nothing up to here has to be read.
    last_sequence: u64,
    /// Whether the page ends at the head of the log.
    at_head: bool,
) -> impl IntoView {
    let arrived = RwSignal::new(0_u32);
    let unfolded = RwSignal::new(false);
    let raw = RwSignal::new(false);
    #[cfg(feature = "hydrate")]
    super::tail::start(&session_id, &kinds, last_sequence, at_head, arrived);
    #[cfg(not(feature = "hydrate"))]
    let _ = (&session_id, &kinds, last_sequence, at_head);
    let fold = move |_| {
        unfolded.update(|on| *on = !*on);
        #[cfg(feature = "hydrate")]
        super::transcript_dom::fold_all(unfolded.get_untracked());
    };
    #[cfg(feature = "hydrate")]
    let raw_of = session_id.clone();
    let show_raw = move |_| {
        raw.update(|on| *on = !*on);
        #[cfg(feature = "hydrate")]
        super::transcript_dom::raw_all(&raw_of, raw.get_untracked());
    };
    let newest = move |_| {
        arrived.set(0);
        #[cfg(feature = "hydrate")]
        super::tail::jump_to_newest(at_head);
    };
    let coming = move || counted(arrived.get(), "new event");
    view! {
        <div class="transcript-tools js-only" data-keys="session">
            <button class="button" type="button" data-look="quiet" data-size="small" data-key="fold" title="Fold or unfold all (x)" on:click=fold>
                {move || if unfolded.get() { "Fold all" } else { "Unfold all" }}
            </button>
            <button
                class="button" type="button" data-look="quiet" data-size="small" data-key="raw" title="Show or hide raw JSON (r)" on:click=show_raw
                aria-pressed=move || if raw.get() { "true" } else { "false" }
            >
                "Raw JSON"
            </button>
            <button class="button" type="button" data-look="quiet" data-size="small" data-key="newest" title="Jump to the newest event (e)" on:click=newest>
                {icon(Icon::Down)}
                "Newest"
            </button>
        </div>
        <button class="pill" type="button" hidden=move || arrived.get() == 0 on:click=newest>
            {icon(Icon::Down)}
            <span role="status">{coming}</span>
        </button>
    }
}
