//! The list of shortcuts as HTML: in the overlay, and on the settings page with buttons to change them. `rebind`
//! updates both if a person has changed a binding.

use super::catalog::{SHORTCUTS, display_keys};
use crate::ui::{
    button::{Button, Look, Press},
    dialog::Dialog,
};
use leptos::prelude::*;

/// The keys of one shortcut; alternatives are shown side by side.
pub fn keys_view(keys: &[&str]) -> impl IntoView + use<> {
    let ways = keys.iter().enumerate().map(|(at, binding)| {
        let or = (at > 0).then(|| view! { <span class="meta">"or"</span> });
        let keys = display_keys(binding).into_iter().map(|key| view! { <kbd>{key}</kbd> }).collect::<Vec<_>>();
        view! { {or}{keys} }
    });
    ways.collect::<Vec<_>>()
}

/// The overlay with all shortcuts.
pub fn keys_dialog() -> impl IntoView {
    let rows = SHORTCUTS
        .into_iter()
        .map(|s| view! { <dt data-keys-of=s.id>{keys_view(s.keys)}</dt><dd>{s.words}</dd> })
        .collect::<Vec<_>>();
    view! {
        <Dialog id="keys" title="Keyboard">
            <dl class="keys">{rows}</dl>
            <p class="keys-more"><a href="/settings#keyboard">"Change them in the settings"</a></p>
        </Dialog>
    }
}

/// All shortcuts with buttons to change them. The buttons need scripts.
pub fn bindings_view() -> impl IntoView {
    let rows = SHORTCUTS
        .into_iter()
        .map(|s| {
            let about = view! { <span class="hidden-text">" the key of: "{s.words}</span> };
            let reset_about = view! { <span class="hidden-text">" the key of: "{s.words}</span> };
            view! {
                <li class="binding">
                    <span class="binding-words">{s.words}</span>
                    <span class="binding-keys" data-keys-of=s.id>{keys_view(s.keys)}</span>
                    <span class="binding-tools js-only">
                        <Button press=Press::Script small=true attr:data-rebind=s.id><span>"Change"</span>{about}</Button>
                        <Button press=Press::Script small=true look=Look::Quiet attr:data-reset=s.id disabled=true>"Reset"{reset_about}</Button>
                    </span>
                </li>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <ul class="bindings" id="bindings">{rows}</ul>
        <p class="meta js-only" id="bindings-said" role="status"></p>
    }
}
