//! The document of a canvas at any version, and its patches as they are recorded.

use super::not_found;
use crate::{Error, Result};
use domain::{
    canvas::{Committed, Document},
    event::{Body, Event, Known, kind::StatePatch},
    id::{SessionId, TenantId},
    limit::CANVAS_BEHIND_MAX,
};
use store::Conn;

/// Returns the patch that an event records; `None` for other events.
pub(crate) fn committed(event: &Event) -> Option<Committed> {
    let Body::StatePatch(StatePatch { patch: Some(patch), .. }) = event.body() else { return None };
    Some(Committed {
        sequence: event.sequence,
        previous: patch.previous,
        op_id: patch.op_id,
        by: patch.suggested_by.unwrap_or_else(|| event.actor.clone()),
        ops: patch.ops,
        overwrote: patch.overwrote,
    })
}

/// The events of patches after one version and up to another, oldest first, at most [`CANVAS_BEHIND_MAX`].
pub(super) async fn events_of_patches(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    range: (u64, u64),
    limit: u32,
) -> Result<(Vec<Event>, bool)> {
    let kinds = [Known::StatePatch.as_str().to_owned()];
    let found = store::event::after(conn, tenant_id, id, range, &kinds, limit.min(CANVAS_BEHIND_MAX)).await?;
    Ok((found.items, found.has_more))
}

/// The document of a canvas at a version, from the last snapshot before it and the patches since. A version between two
/// patches has the document of the first one.
///
/// # Errors
/// [`Error::NotFound`] for a version before the first patch.
pub(crate) async fn document_at(
    conn: &mut Conn<'_>,
    key: (TenantId, SessionId),
    version: u64,
) -> Result<(Document, u64)> {
    let kept = store::canvas::snapshot(conn, key, version).await?.ok_or_else(not_found)?;
    let mut document = Document::read(&kept.document).ok_or_else(|| unreadable(kept.version))?;
    let mut at = kept.version;
    loop {
        let (events, has_more) = events_of_patches(conn, key, (at, version), CANVAS_BEHIND_MAX).await?;
        for event in &events {
            let patch = committed(event).ok_or_else(|| unreadable(event.sequence))?;
            document.fold(&patch.ops).map_err(|_| unreadable(event.sequence))?;
            at = event.sequence;
        }
        if !has_more {
            return Ok((document, at));
        }
    }
}

pub(super) fn unreadable(version: u64) -> Error {
    Error::Internal(format!("version {version} of a canvas does not follow from its log"))
}
