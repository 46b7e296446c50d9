//! The state of the live stream, at the bottom of the rail.

use leptos::prelude::*;

/// Shows whether the stream is live, reconnecting, offline or signed out, and how many events are queued meanwhile.
#[island]
pub fn Connection() -> impl IntoView {
    let state = RwSignal::new("connecting");
    let waiting = RwSignal::new(0_u32);
    let is_full = RwSignal::new(false);
    #[cfg(feature = "hydrate")]
    {
        crate::live::start(move |now| state.set(now.as_str()));
        super::badge::start();
        super::notify::start();
        crate::working_on::watch_waiting(move |now| {
            waiting.set(now.count);
            if is_full.get_untracked() != now.full {
                is_full.set(now.full);
            }
        });
    }
    let word = move || match state.get() {
        "live" => "Live",
        "reconnecting" => "Reconnecting",
        "offline" => "Offline",
        "signed_out" => "Signed out",
        _ => "Connecting",
    };
    // While the stream is live the queue is being sent, so its length is not shown.
    let queued = move || match state.get() {
        _ if is_full.get() => ", queue full".to_owned(),
        "live" | "connecting" => String::new(),
        _ => match waiting.get() {
            0 => String::new(),
            count => format!(", {count} queued"),
        },
    };
    view! {
        <p class="connection js-only" role="status" data-state=move || state.get()>
            <span class="connection-dot"></span>
            <span class="connection-word">{word}{queued}</span>
        </p>
    }
}
