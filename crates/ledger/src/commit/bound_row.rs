//! Binds a session's row to its log by digests, so that a change of the row behind the product's back is detected: by
//! one when the session is created, and by another one when it ends.

use crate::{Error, Result};
use domain::{
    chain::{
        Digest, FinalRow, OpenRow, final_digest, final_digest_text, open_digest, open_digest_text, parse_final_digest,
        parse_open_digest,
    },
    session::{EndReason, Session, Status},
};
use serde_json::{Value, json};

/// The key in the metadata of the ending event that holds the digest of the row.
const MEMBER: &str = "rowDigest";
/// The key in the metadata of the creating event, and of an event that changes the title, that holds the digest of what
/// the session was created with.
const OPEN_MEMBER: &str = "openDigest";

/// Computes the digest of what a session was created with.
///
/// # Errors
/// [`Error::Internal`] if the time limits cannot be written as JSON.
pub(crate) fn open_digest_of(session: &Session) -> Result<Digest> {
    let time_limits =
        serde_json::to_string(&session.time_limits).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(open_digest(&OpenRow {
        tenant_id: session.tenant_id.0,
        session_id: session.id.0,
        session_type: session.session_type.as_str(),
        action_id: session.action_id.map(|id| id.0),
        action_slug: session.action_slug.as_deref(),
        agent_slug: session.agent_slug.as_deref(),
        user_id: session.user_id.map(|id| id.0),
        source: session.source.as_deref(),
        entity_id: session.entity_id.map(|id| id.0),
        title: &session.title,
        input: session.input.as_deref(),
        metadata: &session.metadata,
        parent_id: session.parent_id.map(|id| id.0),
        retry_of: session.retry_of.map(|id| id.0),
        created_by: &session.created_by,
        created_at: session.created_at,
        time_limits: &time_limits,
        dependency_count: session.dependency_count,
        private_to: session.private_to.as_deref(),
    }))
}

/// Adds the digest of what the session was created with to the metadata of an event.
pub(crate) fn bind_open(metadata: &mut Value, session: &Session) -> Result<()> {
    metadata[OPEN_MEMBER] = json!(open_digest_text(open_digest_of(session)?));
    Ok(())
}

/// How the metadata of an event binds what the session was created with; `None` if it does not.
pub(crate) fn read_open(metadata: &str) -> Option<RowBinding> {
    // Most events have no such member, and parsing each would cost more than the chain itself.
    if !metadata.contains(OPEN_MEMBER) {
        return None;
    }
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let text = metadata.get(OPEN_MEMBER)?;
    Some(text.as_str().and_then(parse_open_digest).map_or(RowBinding::Unknown, RowBinding::To))
}

/// Computes the digest of a final row.
pub(crate) fn digest_of(session: &Session) -> Digest {
    final_digest(&FinalRow {
        tenant_id: session.tenant_id.0,
        session_id: session.id.0,
        session_type: session.session_type.as_str(),
        status: session.status().as_str(),
        end_reason: session.end_reason().map(EndReason::as_str),
        action_id: session.action_id.map(|id| id.0),
        action_slug: session.action_slug.as_deref(),
        agent_slug: session.agent_slug.as_deref(),
        user_id: session.user_id.map(|id| id.0),
        source: session.source.as_deref(),
        entity_id: session.entity_id.map(|id| id.0),
        title: &session.title,
        input: session.input.as_deref(),
        metadata: &session.metadata,
        result: session.result(),
        usage: session.usage.as_deref(),
        error_message: session.error_message(),
        error_code: session.error_code(),
        parent_id: session.parent_id.map(|id| id.0),
        retry_of: session.retry_of.map(|id| id.0),
        created_by: &session.created_by,
        attempt: session.attempt,
        created_at: session.created_at,
        queued_at: session.queued_at,
        started_at: session.started_at,
        completed_at: session.completed_at(),
    })
}

/// Returns the metadata of a change to the session's present status. The change to a final status contains the
/// digest of the row, which must be complete by then.
pub(super) fn status_metadata(from: Status, session: &Session, reason: &str) -> Value {
    let mut metadata = json!({ "from": from, "to": session.status(), "reason": reason });
    if session.status().is_final() {
        metadata[MEMBER] = json!(final_digest_text(digest_of(session)));
    }
    metadata
}

/// The parts of a recorded status change that are needed to check the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedStatusChange {
    /// The new status.
    pub(crate) to: Status,
    /// Why the status changed.
    pub(crate) reason: String,
    /// How the event binds the row.
    pub(crate) bound: RowBinding,
}

/// How a status change event binds the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowBinding {
    /// It holds no digest: the status is not final, or the session ended before digests were recorded.
    Not,
    /// By this digest.
    To(Digest),
    /// By a digest in a format that this version does not know.
    Unknown,
}

/// Reads the metadata of a status change. Returns `None` if it is not one, for example because it was erased.
pub(crate) fn read(metadata: &str) -> Option<RecordedStatusChange> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let to = Status::parse(metadata.get("to")?.as_str()?)?;
    let bound = match metadata.get(MEMBER) {
        None => RowBinding::Not,
        Some(text) => text.as_str().and_then(parse_final_digest).map_or(RowBinding::Unknown, RowBinding::To),
    };
    let reason = metadata.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(RecordedStatusChange { to, reason, bound })
}
