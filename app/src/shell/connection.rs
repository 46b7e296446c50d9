//! The state of the live stream, at the foot of the rail.

use leptos::prelude::*;

/// Live, reconnecting, offline or signed out.
#[island]
pub fn Connection() -> impl IntoView {
    let state = RwSignal::new("connecting");
    #[cfg(feature = "hydrate")]
    crate::live::start(move |now| state.set(now.as_str()));
    let word = move || match state.get() {
        "live" => "Live",
        "reconnecting" => "Reconnecting",
        "offline" => "Offline",
        "signed_out" => "Signed out",
        _ => "Connecting",
    };
    view! {
        <p class="connection js-only" role="status" data-state=move || state.get()>
            <span class="connection-dot"></span>
            <span class="connection-word">{word}</span>
        </p>
    }
}
