//! The quick marker: one note about what was just done.

use super::{active::Active, said::Said};
use leptos::{ev, html, prelude::*};

/// Longest note, characters.
const NOTE_CHARS_MAX: &str = "2000";

/// The dialog. It stays closed until [`super::open_marker`] opens it; what was typed is kept until it is recorded.
#[component]
pub fn MarkerDialog(active: RwSignal<Option<Active>>, said: RwSignal<Option<Said>>) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let note = NodeRef::<html::Textarea>::new();
    let problem = RwSignal::new(String::new());
    let sending = RwSignal::new(false);
    let title = move || active.with(|a| a.as_ref().map(|a| a.title.clone()).unwrap_or_default());
    #[cfg(feature = "hydrate")]
    super::on_open_marker(move || {
        let can = active.with_untracked(|a| a.as_ref().is_some_and(Active::is_confirmed));
        if can && let (Some(dialog), Some(note)) = (dialog.get_untracked(), note.get_untracked()) {
            note.set_value(&super::control::draft());
            problem.set(String::new());
            if !dialog.open() {
                let _ = dialog.show_modal();
            }
            let _ = note.focus();
        }
        can
    });
    let record = move || {
        let Some(field) = note.get_untracked() else { return };
        let text = field.value().trim().to_owned();
        if sending.get_untracked() {
            return;
        }
        if text.is_empty() {
            problem.set("Write a word or two first.".to_owned());
            let _ = field.focus();
            return;
        }
        sending.set(true);
        problem.set(String::new());
        #[cfg(feature = "hydrate")]
        wasm_bindgen_futures::spawn_local(async move {
            let recorded = super::control::record_marker(&text).await;
            sending.set(false);
            match recorded {
                Ok(()) => {
                    super::control::keep_draft("");
                    field.set_value("");
                    if let Some(dialog) = dialog.get_untracked() {
                        dialog.close();
                    }
                    said.set(Some(Said { words: "Marker recorded.".to_owned(), bad: false }));
                }
                Err(why) => problem.set(format!("Not recorded, your note is kept. {why}")),
            }
        });
        #[cfg(not(feature = "hydrate"))]
        let _ = said;
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" && !event.shift_key() && !event.is_composing() {
            event.prevent_default();
            record();
        }
    };
    let on_input = move |event: ev::Event| {
        #[cfg(feature = "hydrate")]
        super::control::keep_draft(event_target_value(&event).trim());
        #[cfg(not(feature = "hydrate"))]
        let _ = event;
    };
    view! {
        <dialog class="dialog" id="marker" aria-labelledby="marker-title" node_ref=dialog>
            <form
                method="dialog"
                on:submit=move |event| {
                    event.prevent_default();
                    record();
                }
            >
                <div class="dialog-head">
                    <h2 id="marker-title">"Drop a marker"</h2>
                </div>
                <div class="dialog-body marker-body">
                    <label class="field-label" for="marker-note">"What did you just do?"</label>
                    <textarea
                        class="input" id="marker-note" rows="3" maxlength=NOTE_CHARS_MAX dir="auto" node_ref=note
                        aria-describedby="marker-about marker-problem" on:keydown=on_key on:input=on_input
                    ></textarea>
                    <p class="meta" id="marker-about">"Recorded on: "<span dir="auto">{title}</span>". Enter records, Shift Enter is a new line."</p>
                    <p class="field-error" id="marker-problem" role="alert">{move || problem.get()}</p>
                    <div class="form-actions">
                        <button class="button" data-look="primary" type="submit" aria-disabled=move || sending.get().then_some("true")>
                            {move || if sending.get() { "Recording…" } else { "Record" }}
                        </button>
                        <button
                            class="button" type="button"
                            on:click=move |_| if let Some(dialog) = dialog.get_untracked() { dialog.close() }
                        >
                            "Cancel"
                        </button>
                    </div>
                </div>
            </form>
        </dialog>
    }
}
