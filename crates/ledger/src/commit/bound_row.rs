//! Binds a session's row to its log by digests, so that a change of the row behind the product's back is detected: by
//! one when the session is created, by one of its usage whenever its worker leaves it waiting, and by another one when
//! it ends.

use crate::{Error, Result};
use domain::{
    chain::{
        Digest, FinalRow, OpenRow, final_digest, final_digest_text, open_digest, open_digest_text, parse_final_digest,
        parse_open_digest, parse_usage_digest, usage_digest, usage_digest_text,
    },
    event::{Body, Event, kind::StatusChange},
    session::{EndReason, Session, Status},
};
use serde_json::Value;

/// Member of metadata with the digest of what the session was created with: of the creating event, and of each event
/// that changes the title.
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

/// Returns the digest of what the session was created with, as an event contains it.
///
/// # Errors
/// As [`open_digest_of`].
pub(crate) fn open_digest_member(session: &Session) -> Result<Value> {
    Ok(open_digest_text(open_digest_of(session)?).into())
}

/// Adds that digest to the metadata of a hook's event.
pub(crate) fn bind_open(metadata: &mut Value, session: &Session) -> Result<()> {
    metadata[OPEN_MEMBER] = open_digest_member(session)?;
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

/// Computes the digest of the usage that a session has now.
pub(crate) fn usage_digest_of(session: &Session) -> Digest {
    usage_digest(session.tenant_id.0, session.id.0, session.usage.as_deref())
}

/// Returns whether a worker can report usage with this change, and the session stays open.
pub(crate) fn may_report_usage(from: Option<Status>, to: Status, attempt: u32) -> bool {
    let waits = matches!(to, Status::Idle | Status::WaitingHuman | Status::AwaitingTool);
    from == Some(Status::Running) && waits && attempt > 0
}

/// Returns the change to the session's present status. The change to a final status contains the digest of the row,
/// which must be complete by then.
pub(super) fn status_change(from: Status, session: &Session, reason: &str) -> StatusChange {
    let (from, to) = (Some(from), session.status());
    let row_digest = to.is_final().then(|| final_digest_text(digest_of(session)).into());
    let reports = may_report_usage(from, to, session.attempt);
    let usage_digest = reports.then(|| usage_digest_text(usage_digest_of(session)).into());
    StatusChange { from, to, reason: reason.to_owned(), row_digest, open_digest: None, usage_digest }
}

/// The parts of a recorded status change that are needed to check the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedStatusChange {
    /// The status before; `None` if the session had none.
    pub(crate) from: Option<Status>,
    /// The new status.
    pub(crate) to: Status,
    /// Why the status changed.
    pub(crate) reason: String,
    /// How the event binds the row.
    pub(crate) bound: RowBinding,
    /// How the event binds the usage.
    pub(crate) usage: RowBinding,
}

/// How an event binds the row, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowBinding {
    /// It holds no digest: there is none in this event, or it is older than these digests.
    Not,
    /// By this digest.
    To(Digest),
    /// By a digest in a format that this version does not know.
    Unknown,
}

/// Reads a status change. Returns `None` if the event is not one, for example because it was erased.
pub(crate) fn read(event: &Event) -> Option<RecordedStatusChange> {
    let Body::SessionStatusChange(change) = event.body() else { return None };
    let binding = |text: Option<&Value>, parse: fn(&str) -> Option<Digest>| match text {
        None => RowBinding::Not,
        Some(text) => text.as_str().and_then(parse).map_or(RowBinding::Unknown, RowBinding::To),
    };
    let bound = binding(change.row_digest.as_ref(), parse_final_digest);
    let usage = binding(change.usage_digest.as_ref(), parse_usage_digest);
    Some(RecordedStatusChange { from: change.from, to: change.to, reason: change.reason, bound, usage })
}
