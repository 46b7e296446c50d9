//! The state of the live stream, at the bottom of the rail.

use leptos::prelude::*;

/// Shows whether the stream is live, reconnecting, offline or signed out, and how many events are queued meanwhile.
#[island]
pub fn Connection() -> impl IntoView {
    let state = RwSignal::new("connecting");
    #[cfg(feature = "hydrate")]
    {
        crate::browser::live::start(move |now| state.set(now.as_str()));
        super::notify::start();
    }
    // The picker's island wakes before this one, because it is earlier in the document.
    let queue = move || crate::working_on::Work::of_page().map(|work| work.waiting.get()).unwrap_or_default();
    let word = move || match state.get() {
        "live" => "Live",
        "reconnecting" => "Reconnecting",
        "offline" => "Offline",
        "signed_out" => "Signed out",
        _ => "Connecting",
    };
    // While the stream is live the queue is being sent, so its length is not shown.
    let queued = move || match state.get() {
        _ if queue().full => ", queue full".to_owned(),
        "live" | "connecting" => String::new(),
        _ => match queue().count {
            0 => String::new(),
            count => [", ", &count.to_string(), " queued"].concat(),
        },
    };
    view! {
        <p class="connection js-only" role="status" data-state=move || state.get()>
            <span class="connection-dot"></span>
            <span class="connection-word">{word}{queued}</span>
        </p>
    }
}
