//! The list of shortcuts on the settings page, each with a button that records a new key for it.

use super::{
    binding::{conflict, defaults, token, unfit},
    catalog::SHORTCUTS,
    keys_view::keys_view,
};
use leptos::{ev, prelude::*};

/// Every shortcut. Changing them needs scripts; the list does not.
#[island]
pub fn KeyBindings() -> impl IntoView {
    let bindings = RwSignal::new(defaults());
    let recording = RwSignal::new(None::<usize>);
    let said = RwSignal::new(String::new());
    #[cfg(feature = "hydrate")]
    super::custom::watch(move |now| bindings.set(now.clone()));
    let name = |at: usize| SHORTCUTS.get(at).map_or("", |shortcut| shortcut.words);
    let bind = move |at: usize, keys: Option<String>| {
        #[cfg(feature = "hydrate")]
        super::custom::bind(at, keys);
        #[cfg(not(feature = "hydrate"))]
        let _ = (at, keys);
    };
    let on_key = move |at: usize, event: ev::KeyboardEvent| {
        if recording.get_untracked() != Some(at) {
            return;
        }
        let (key, code) = (event.key(), event.code());
        let press = super::binding::Press {
            key: &key,
            code: &code,
            ctrl: event.ctrl_key(),
            meta: event.meta_key(),
            alt: event.alt_key(),
            shift: event.shift_key(),
        };
        let Some(token) = token(&press) else { return };
        event.prevent_default();
        if token == "Escape" {
            recording.set(None);
            said.set("Nothing was changed.".to_owned());
        } else if token == "Tab" || token == "Shift+Tab" {
            recording.set(None);
        } else if let Some(why) = unfit(&token) {
            said.set(why.to_owned());
        } else if let Some(other) = conflict(&bindings.get_untracked(), at, &token) {
            said.set(format!("That key is taken: {}. Press another one.", name(other)));
        } else {
            bind(at, Some(token));
            recording.set(None);
            said.set(format!("Changed: {}.", name(at)));
        }
    };
    let rows = SHORTCUTS
        .into_iter()
        .enumerate()
        .map(|(at, shortcut)| {
            let is_recording = move || recording.get() == Some(at);
            let is_changed =
                move || bindings.with(|all| all.get(at).is_none_or(|keys| !shortcut.keys.iter().eq(keys.iter())));
            view! {
                <li class="binding">
                    <span class="binding-words">{shortcut.words}</span>
                    <span class="binding-keys">
                        {move || keys_view(bindings.with(|all| all.get(at).cloned()).as_deref().unwrap_or_default())}
                    </span>
                    <span class="binding-tools js-only">
                        <button
                            class="button" type="button" data-size="small"
                            data-shortcut=shortcut.id
                            data-recording=move || is_recording().then_some("")
                            on:click=move |_| {
                                recording.set(Some(at));
                                said.set("Press the new key. Escape keeps the present one.".to_owned());
                            }
                            on:keydown=move |event| on_key(at, event)
                            on:blur=move |_| if recording.get_untracked() == Some(at) { recording.set(None) }
                        >
                            {move || if is_recording() { "Press a key…" } else { "Change" }}
                            <span class="hidden-text">" the key of: "{shortcut.words}</span>
                        </button>
                        <button
                            class="button" type="button" data-size="small" data-look="quiet"
                            disabled=move || !is_changed()
                            on:click=move |_| {
                                bind(at, None);
                                said.set(format!("As it came: {}.", shortcut.words));
                            }
                        >
                            "Reset"<span class="hidden-text">" the key of: "{shortcut.words}</span>
                        </button>
                    </span>
                </li>
            }
        })
        .collect_view();
    view! {
        <ul class="bindings">{rows}</ul>
        <p class="meta js-only" role="status">{move || said.get()}</p>
    }
}
