//! The dialog that records a marker: one note about what was just done. The typed text is kept until the server has
//! recorded it.

use super::{Work, marking::Marking};
use leptos::{
    ev::{KeyboardEvent, SubmitEvent},
    prelude::*,
};

/// Longest note, characters.
const NOTE_CHARS_MAX: &str = "2000";

/// The dialog. `Work::open_marker` opens it.
#[component]
pub fn MarkerDialog(work: Work) -> impl IntoView {
    let Marking { dialog, field, note, problem, .. } = work.marker;
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        record(work);
    };
    let typed = move |text: String| {
        #[cfg(feature = "hydrate")]
        super::draft::keep(text.trim());
        note.set(text);
    };
    let title = move || work.active.read().as_ref().map(|active| active.title.clone());
    view! {
        <dialog class="dialog" id="marker" aria-labelledby="marker-title" node_ref=dialog>
            <form method="dialog" on:submit=submit>
                <div class="dialog-head">
                    <h2 id="marker-title">"Add a marker"</h2>
                </div>
                <div class="dialog-body marker-body">
                    <label class="field-label" for="marker-note">"What did you just do?"</label>
                    <textarea
                        class="input" id="marker-note" rows="3" maxlength=NOTE_CHARS_MAX dir="auto"
                        aria-describedby="marker-about marker-problem" node_ref=field prop:value=move || note.get()
                        on:keydown=move |event| press(work, &event)
                        on:input:target=move |event| typed(event.target().value())
                    ></textarea>
                    <p class="meta" id="marker-about">
                        "Recorded on: "<span dir="auto" data-part="title">{title}</span>
                        ". Press Enter to record, Shift Enter for a new line."
                    </p>
                    <p class="field-error" id="marker-problem" role="alert">{move || problem.get()}</p>
                    <div class="form-actions">
                        <button class="button" data-look="primary" type="submit">"Record"</button>
                        <button class="button" type="button" data-part="cancel" on:click=move |_| work.marker.close()>
                            "Cancel"
                        </button>
                    </div>
                </div>
            </form>
        </dialog>
    }
}

/// Enter records the note, Shift Enter begins a new line, and Escape hides the dialog.
fn press(work: Work, event: &KeyboardEvent) {
    if event.key() == "Enter" && !event.shift_key() && !event.is_composing() {
        event.prevent_default();
        record(work);
    } else if event.key() == "Escape" && !event.is_composing() {
        event.prevent_default();
        work.marker.close();
    }
}

/// Records the note, unless it is being recorded already. Hides the dialog afterwards.
fn record(work: Work) {
    let Marking { field, note, problem, is_sending, .. } = work.marker;
    let text = note.get_untracked().trim().to_owned();
    if is_sending.get_untracked() {
        return;
    }
    if text.is_empty() {
        problem.set("Write a note first.".to_owned());
        super::focus::focus(field);
        return;
    }
    is_sending.set(true);
    problem.set(String::new());
    #[cfg(feature = "hydrate")]
    crate::browser::task::spawn_local(async move {
        let recorded = super::add_marker::add_marker(work, &text).await;
        is_sending.set(false);
        match recorded {
            Ok(()) => {
                // Text typed since then belongs to the next note, so it is kept.
                if note.get_untracked().trim() == text {
                    super::draft::keep("");
                    note.set(String::new());
                    work.marker.close();
                }
                work.say("Marker recorded.".to_owned(), false);
            }
            Err(why) => problem.set(["Not recorded. Your note is kept. ", &why].concat()),
        }
    });
}
