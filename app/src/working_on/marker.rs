//! The dialog that records a marker (a note). The typed text is kept until the server has recorded it. Only in the
//! WASM build.

use super::{
    Active,
    flush::Ended,
    recorder::{event_json, new_id, now_text, send_now},
    state, widget,
};
use crate::browser::{dom, fetch};
use std::cell::Cell;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, HtmlDialogElement, HtmlTextAreaElement, KeyboardEvent};

/// Storage key of the draft: id and time of its event, then the text.
const DRAFT_KEY: &str = "shiftbook-marker";

thread_local! {
    static SENDING: Cell<bool> = const { Cell::new(false) };
}

fn dialog() -> Option<HtmlDialogElement> {
    dom::by_id("marker")?.dyn_into().ok()
}

fn note() -> Option<HtmlTextAreaElement> {
    dom::by_id("marker-note")?.dyn_into().ok()
}

fn say(problem: &str) {
    if let Some(line) = dom::by_id("marker-problem") {
        line.set_text_content(Some(problem));
    }
}

/// Attaches the event handlers.
pub fn start() {
    let (Some(dialog), Some(note)) = (dialog(), note()) else { return };
    dom::on(&dialog, "submit", |event: Event| {
        event.prevent_default();
        record();
    });
    dom::on(&note, "keydown", |event: KeyboardEvent| {
        if event.key() == "Enter" && !event.shift_key() && !event.is_composing() {
            event.prevent_default();
            record();
        }
    });
    dom::on(&note, "input", |_: Event| {
        if let Some(note) = self::note() {
            keep_draft(note.value().trim());
        }
    });
    widget::on_part("cancel", "click", move |_| dialog.close());
}

/// Opens the dialog. Returns false if no working session is active.
pub fn open() -> bool {
    if !state::active().is_some_and(|active| active.is_confirmed()) {
        return false;
    }
    if let (Some(dialog), Some(note)) = (dialog(), note()) {
        note.set_value(draft().split_once('\n').map_or("", |(_, text)| text));
        say("");
        if !dialog.open() {
            let _ = dialog.show_modal();
        }
        let _ = note.focus();
    }
    true
}

fn record() {
    let Some(note) = note() else { return };
    let text = note.value().trim().to_owned();
    if SENDING.get() {
        return;
    }
    if text.is_empty() {
        say("Write a note first.");
        let _ = note.focus();
        return;
    }
    SENDING.set(true);
    say("");
    spawn_local(async move {
        let recorded = send(&text).await;
        SENDING.set(false);
        match recorded {
            Ok(()) => {
                keep_draft("");
                note.set_value("");
                if let Some(dialog) = dialog() {
                    dialog.close();
                }
                widget::say("Marker recorded.", false);
            }
            Err(why) => say(&["Not recorded. Your note is kept. ", &why].concat()),
        }
    });
}

fn draft() -> String {
    dom::session_storage().and_then(|storage| storage.get_item(DRAFT_KEY).ok().flatten()).unwrap_or_default()
}

/// Stores the draft. A changed text gets a new event id.
fn keep_draft(text: &str) {
    let Some(storage) = dom::session_storage() else { return };
    let _ = if text.is_empty() {
        storage.remove_item(DRAFT_KEY)
    } else {
        storage.set_item(DRAFT_KEY, &[&new_id(), " ", &now_text(), "\n", text].concat())
    };
}

/// Records the marker. Fails with the message to show.
async fn send(text: &str) -> Result<(), String> {
    let active = state::active().filter(Active::is_confirmed);
    let Some(active) = active else { return Err("You are no longer working on a task.".to_owned()) };
    // The id and time are created with the draft, so a repeated request is recorded once.
    let draft = draft();
    let kept = draft.split_once('\n').filter(|(_, kept)| *kept == text);
    let (id, at) = match kept.and_then(|(head, _)| head.split_once(' ')) {
        Some((id, at)) => (id.to_owned(), at.to_owned()),
        None => (new_id(), now_text()),
    };
    // Sends the queued events first, because they happened before the note.
    match send_now().await {
        Ended::Unreachable => return Err(fetch::UNREACHABLE.to_owned()),
        Ended::SignedOut => return Err("You are signed out.".to_owned()),
        Ended::Empty | Ended::Elsewhere => {}
    }
    let event = event_json(&id, "human.marker", &at, &dom::object(&[("at", &at)]), Some(text));
    let url = ["/api/sessions/", &active.session_id, "/events"].concat();
    let answer = fetch::post(&url, &["{\"events\":[", &event, "]}"].concat()).await;
    match fetch::refusal(answer.as_ref()) {
        None => Ok(()),
        Some(why) if answer.is_some_and(|answer| matches!(answer.status, 404 | 409)) => {
            super::control::refresh();
            Err([&why, " Start working on a task again, then record it there."].concat())
        }
        Some(why) => Err(why),
    }
}

/// A text part of an event's content.
pub fn text_part(text: &str) -> JsValue {
    dom::object(&[("type", "text"), ("text", text)])
}
