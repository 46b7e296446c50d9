//! The note that is being written, kept in this tab. Only in the WASM build.

use crate::browser::{dom, id::new_id, times::now_text};

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
    // An edit may change nothing: a space at the end is not part of the text.
    if self::text() == text {
        return;
    }
    let Some(storage) = dom::session_storage() else { return };
    let _ = if text.is_empty() {
        storage.remove_item(DRAFT_KEY)
    } else {
        storage.set_item(DRAFT_KEY, &[&new_id(), " ", &now_text(), "\n", text].concat())
    };
}

/// Id and time of the event that records this text. They are created with the draft, so a repeated request is recorded
/// once.
pub fn event_of(text: &str) -> (String, String) {
    let draft = draft();
    let kept = draft.split_once('\n').filter(|(_, kept)| *kept == text);
    match kept.and_then(|(head, _)| head.split_once(' ')) {
        Some((id, at)) => (id.to_owned(), at.to_owned()),
        None => (new_id(), now_text()),
    }
}
