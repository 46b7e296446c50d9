//! The list of shortcuts on the settings page, with buttons to change them. Without scripts it is the list of the
//! defaults.

#[cfg(feature = "hydrate")]
use super::{
    binding::{conflict, token, why_not_bindable},
    keyboard::press,
    state::Keys,
    user_bindings,
};
use super::{
    catalog::{Bindings, SHORTCUTS, Shortcut, default_bindings},
    keys_view::keys_view,
};
use crate::ui::button::{Button, Look, Press};
use leptos::{
    ev::{KeyboardEvent, MouseEvent},
    prelude::*,
};

/// What the list shows. A copy is the same state.
#[derive(Clone, Copy)]
struct Editor {
    /// The bindings shown: the defaults in the first rendering, which must be the server's.
    bindings: RwSignal<Bindings>,
    /// Index of the shortcut that waits for a key press.
    recording: RwSignal<Option<usize>>,
    /// What has happened, in a sentence.
    said: RwSignal<String>,
}

fn name(at: usize) -> &'static str {
    SHORTCUTS.get(at).map_or("", |shortcut| shortcut.words)
}

impl Editor {
    fn is_default(self, at: usize) -> bool {
        let keys = SHORTCUTS.get(at).map(|shortcut| shortcut.keys).unwrap_or_default();
        self.bindings.with(|bindings| bindings.get(at).is_none_or(|ways| keys.iter().eq(ways.iter())))
    }

    fn say(self, words: &[&str]) {
        self.said.set(words.concat());
    }

    fn record(self, at: usize, event: &MouseEvent) {
        // Not every browser focuses a clicked button.
        #[cfg(feature = "hydrate")]
        if let Some(button) = crate::browser::dom::closest(event, "button") {
            let _ = button.focus();
        }
        #[cfg(not(feature = "hydrate"))]
        let _ = event;
        self.say(&["Press the new key. Press Escape to keep the current one."]);
        self.recording.set(Some(at));
    }

    fn reset(self, at: usize) {
        self.bind(at, None);
        self.say(&["Default: ", name(at), "."]);
    }

    fn bind(self, at: usize, pressed: Option<String>) {
        #[cfg(feature = "hydrate")]
        if let Some(keys) = Keys::of_page() {
            user_bindings::bind(keys.bindings, at, pressed);
        }
        #[cfg(not(feature = "hydrate"))]
        let _ = (at, pressed);
    }

    #[cfg(feature = "hydrate")]
    fn press(self, event: &KeyboardEvent) {
        let Some(at) = self.recording.get_untracked() else { return };
        let (key, code) = (event.key(), event.code());
        let Some(pressed) = token(&press(event, &key, &code)) else { return };
        if pressed == "Tab" || pressed == "Shift+Tab" {
            return;
        }
        event.prevent_default();
        event.stop_propagation();
        if pressed == "Escape" {
            self.recording.set(None);
            self.say(&["Nothing was changed."]);
        } else if let Some(why) = why_not_bindable(&pressed) {
            self.say(&[why]);
        } else if let Some(other) = self.bindings.with_untracked(|bindings| conflict(bindings, at, &pressed)) {
            self.say(&["That key is already used: ", name(other), ". Press another one."]);
        } else {
            self.recording.set(None);
            self.bind(at, Some(pressed));
            self.say(&["Changed: ", name(at), "."]);
        }
    }

    #[cfg(not(feature = "hydrate"))]
    const fn press(self, _event: &KeyboardEvent) {}
}

/// All shortcuts, with a button to change and one to restore each. The buttons need scripts.
#[island(lazy)]
pub fn BindingsEditor() -> impl IntoView {
    let bindings = RwSignal::new(default_bindings());
    let editor = Editor { bindings, recording: RwSignal::new(None), said: RwSignal::new(String::new()) };
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| {
        if let Some(keys) = Keys::of_page() {
            bindings.set(keys.bindings.get());
        }
    });
    let rows = SHORTCUTS.into_iter().enumerate().map(|(at, shortcut)| row(editor, at, shortcut)).collect_view();
    view! {
        <ul
            class="bindings" on:keydown=move |event| editor.press(&event)
            on:focusout=move |_| editor.recording.set(None)
        >
            {rows}
        </ul>
        <p class="meta js-only" role="status">{move || editor.said.get()}</p>
    }
}

fn row(editor: Editor, at: usize, shortcut: Shortcut) -> impl IntoView {
    let keys = move || editor.bindings.with(|bindings| bindings.get(at).map(|ways| keys_view(ways)));
    let is_recording = move || editor.recording.get() == Some(at);
    let about = move || view! { <span class="hidden-text">" the key of: "{shortcut.words}</span> };
    view! {
        <li class="binding">
            <span class="binding-words">{shortcut.words}</span>
            <span class="binding-keys">{keys}</span>
            <span class="binding-tools js-only">
                <Button
                    press=Press::Script small=true attr:data-recording=move || is_recording().then_some("")
                    on:click=move |event| editor.record(at, &event)
                >
                    <span>{move || if is_recording() { "Press a key…" } else { "Change" }}</span>{about()}
                </Button>
                <Button
                    press=Press::Script small=true look=Look::Quiet
                    attr:disabled=move || editor.is_default(at) on:click=move |_| editor.reset(at)
                >
                    "Reset"{about()}
                </Button>
            </span>
        </li>
    }
}
