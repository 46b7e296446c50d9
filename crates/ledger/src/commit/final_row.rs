//! Binding a session's final row to its log.

use crate::SessionRecord;
use domain::{
    chain::{Digest, FinalRow, final_digest, final_digest_text, parse_final_digest},
    session::{EndReason, Status},
};
use serde_json::{Value, json};

/// The member of the ending event's metadata that holds the digest of the row.
const MEMBER: &str = "rowDigest";

/// The digest of a row as it stands.
pub(crate) fn digest_of(session: &SessionRecord) -> Digest {
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

/// The metadata of the change to the status that `session` has now. The one that ends it binds the row, which must be
/// complete by then.
pub(super) fn status_metadata(from: Status, session: &SessionRecord, reason: &str) -> Value {
    let mut metadata = json!({ "from": from, "to": session.status(), "reason": reason });
    if session.status().is_final() {
        metadata[MEMBER] = json!(final_digest_text(digest_of(session)));
    }
    metadata
}

/// What a status change says, as far as it is needed to check the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedStatusChange {
    /// The status that began.
    pub(crate) to: Status,
    /// How it binds the row.
    pub(crate) bound: RowBinding,
}

/// How a status change binds the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowBinding {
    /// Not at all: the session goes on, or it ended before rows were bound.
    Not,
    /// To this digest.
    To(Digest),
    /// In a way that this version does not know.
    Unknown,
}

/// Reads the metadata of a status change; `None` where it is no such thing, as when it was erased.
pub(crate) fn read(metadata: &str) -> Option<RecordedStatusChange> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let to = Status::parse(metadata.get("to")?.as_str()?)?;
    let bound = match metadata.get(MEMBER) {
        None => RowBinding::Not,
        Some(text) => text.as_str().and_then(parse_final_digest).map_or(RowBinding::Unknown, RowBinding::To),
    };
    Some(RecordedStatusChange { to, bound })
}
