//! Records a marker. Only in the WASM build.

use super::{Marker, Work, api::AddMarker, control, draft, recorder};
use crate::server_function::call;

/// Records the note in the active working session.
///
/// # Errors
/// The message to show.
pub async fn add_marker(work: Work, text: &str) -> Result<(), String> {
    let Some(active) = work.confirmed() else { return Err("You are no longer working on a task.".to_owned()) };
    let (event_id, at) = draft::event_of(text);
    // Sends the queued events first, because they happened before the note.
    recorder::send_now(work).await.map_err(|refusal| refusal.message())?;
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
