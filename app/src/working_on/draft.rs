//! The note that is being written, kept in this tab, and its recording. Only in the WASM build.

use super::{
    Marker, Work,
    api::AddMarker,
    control,
    flush::Ended,
    recorder::{now_text, send_now},
};
use crate::{
    browser::{dom, fetch, id::new_id},
    server_function::call,
};

/// Storage key of the draft: id and time of its event, then the text.
const DRAFT_KEY: &str = "shiftbook-marker";

fn draft() -> String {
    dom::session_storage().and_then(|storage| storage.get_item(DRAFT_KEY).ok().flatten()).unwrap_or_default()
}

/// The text of the draft. Empty if there is none.
pub fn text() -> String {
    draft().split_once('\n').map_or_else(String::new, |(_, text)| text.to_owned())
}

/// Stores the draft; an empty text removes it. A changed text gets a new event id.
pub fn keep(text: &str) {
    let Some(storage) = dom::session_storage() else { return };
    let _ = if text.is_empty() {
        storage.remove_item(DRAFT_KEY)
    } else {
        storage.set_item(DRAFT_KEY, &[&new_id(), " ", &now_text(), "\n", text].concat())
    };
}

/// Records the marker.
///
/// # Errors
/// The message to show.
pub async fn send(work: Work, text: &str) -> Result<(), String> {
    let Some(active) = work.confirmed() else { return Err("You are no longer working on a task.".to_owned()) };
    // The id and time are created with the draft, so a repeated request is recorded once.
    let draft = draft();
    let kept = draft.split_once('\n').filter(|(_, kept)| *kept == text);
    let (event_id, at) = match kept.and_then(|(head, _)| head.split_once(' ')) {
        Some((id, at)) => (id.to_owned(), at.to_owned()),
        None => (new_id(), now_text()),
    };
    // Sends the queued events first, because they happened before the note.
    match send_now(work).await {
        Ended::Unreachable => return Err(fetch::UNREACHABLE.to_owned()),
        Ended::SignedOut => return Err("You are signed out.".to_owned()),
        Ended::Empty | Ended::Elsewhere => {}
    }
    let marker = Marker { session_id: active.session_id, event_id, at, text: text.to_owned() };
    match call(AddMarker { marker }).await {
        Ok(()) => Ok(()),
        Err(refusal) if matches!(refusal.status, 404 | 409) => {
            control::refresh(work);
            Err([&refusal.message(), " Start working on a task again, then record it there."].concat())
        }
        Err(refusal) => Err(refusal.message()),
    }
}
