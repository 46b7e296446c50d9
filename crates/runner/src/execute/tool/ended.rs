//! The answer of a call whose session has ended: a child's result, or how it ended instead.

use super::{super::limit::CHILD_RESULT_BYTES_MAX, Answer};
use domain::{
    id::SessionId,
    session::{EndReason, Status},
};
use serde_json::{Value, json, value::RawValue};
use wire::session::SessionError;

/// How a session ended that a call started.
pub struct Ended<'a> {
    /// Id of the started session.
    pub session_id: SessionId,
    /// Its final status.
    pub status: Status,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// Its error, if it failed.
    pub error: Option<&'a SessionError>,
    /// Its result, if it completed with one.
    pub result: Option<&'a RawValue>,
}

/// The answer for the model. Of a result with more than [`CHILD_RESULT_BYTES_MAX`] bytes it has the beginning.
pub fn ended(end: &Ended<'_>) -> Answer {
    let (id, status) = (end.session_id, end.status);
    if status != Status::Completed {
        return Err(json!({ "sessionId": id, "status": status, "endReason": end.end_reason, "error": end.error }));
    }
    let text = end.result.map_or("null", RawValue::get);
    if text.len() <= CHILD_RESULT_BYTES_MAX {
        let result: Value = serde_json::from_str(text).unwrap_or_default();
        return Ok(json!({ "sessionId": id, "result": result }));
    }
    let cut = text.floor_char_boundary(CHILD_RESULT_BYTES_MAX);
    Ok(json!({ "sessionId": id, "resultBegins": &text[..cut], "resultBytes": text.len() }))
}
