//! Reading canvases, their versions and their patches.

use super::{
    document::{committed, document_at, events_of_patches, unreadable},
    find, key, role_of,
};
use crate::{
    Error, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{
    Scope, Timestamp,
    canvas::{Committed, Document, ParticipantRole},
    id::SessionId,
    limit::CANVAS_BEHIND_MAX,
    role::Permission,
    session::Session,
};
use store::{CanvasRecord, Conn, ListedCanvas};

/// A canvas at its newest version.
#[derive(Debug, Clone)]
pub struct Canvas {
    /// The session of the canvas, with its title and status.
    pub session: Session,
    /// The document and its version.
    pub record: CanvasRecord,
    /// The caller's role; `None` if the caller can only read it.
    pub role: Option<ParticipantRole>,
    /// Session of the task that wrote it to its entity last, or waits for approval to do so.
    pub write_back_id: Option<SessionId>,
}

/// The document of a canvas at a version.
#[derive(Debug, Clone, PartialEq)]
pub struct At {
    /// Content at that version.
    pub document: Document,
    /// Sequence of the patch that made it.
    pub version: u64,
}

/// Patches of a canvas, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Patches {
    /// The patches with the time at which each was accepted (UTC).
    pub patches: Vec<(Committed, Timestamp)>,
    /// The newest version.
    pub head: u64,
    /// Whether there are more after the last one.
    pub has_more: bool,
}

/// Returns a canvas.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Canvas> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    ledger.snapshot(scope, async move |conn| get_on(conn, &reader, id).await).await
}

async fn get_on(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<Canvas> {
    let session = store::session::find(conn, scope.tenant_id, id).await?;
    let (session, record) = find(conn, scope, session).await?;
    let role = role_of(conn, scope, &session).await?;
    let write_back_id = match session.entity_id {
        Some(_) => store::response::promotion_sessions(conn, scope.tenant_id, id).await?.pop(),
        None => None,
    };
    Ok(Canvas { session, record, role, write_back_id })
}

/// Returns the document of a canvas at a version; `None` for the newest.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Invalid`] for a version that it does not have.
pub async fn state(ledger: &Ledger, scope: &Scope, id: SessionId, version: Option<u64>) -> Result<At> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let Canvas { session, record, .. } = get_on(conn, &reader, id).await?;
        let version = version.unwrap_or(record.version);
        if version >= record.version {
            let document = Document::read(&record.document).ok_or_else(|| unreadable(record.version))?;
            return if version == record.version {
                Ok(At { document, version })
            } else {
                Err(no_such_version(&record))
            };
        }
        match document_at(conn, key(&session), version).await {
            Ok((document, version)) => Ok(At { document, version }),
            Err(Error::NotFound(_)) => Err(no_such_version(&record)),
            Err(error) => Err(error),
        }
    });
    read.await
}

fn no_such_version(record: &CanvasRecord) -> Error {
    Error::invalid("version", format!("the first version or later, at most {}", record.version))
}

/// Returns patches of a canvas after a version, at most `limit` and at most [`CANVAS_BEHIND_MAX`]; 0 for that number.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Invalid`] for a limit above [`CANVAS_BEHIND_MAX`].
pub async fn patches(ledger: &Ledger, scope: &Scope, id: SessionId, after: u64, limit: u32) -> Result<Patches> {
    require(scope, Permission::Read)?;
    if limit > CANVAS_BEHIND_MAX {
        return Err(Error::invalid("limit", format!("at most {CANVAS_BEHIND_MAX}")));
    }
    let limit = if limit == 0 { CANVAS_BEHIND_MAX } else { limit };
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let Canvas { session, record, .. } = get_on(conn, &reader, id).await?;
        let range = (after.min(record.version), record.version);
        let (events, has_more) = events_of_patches(conn, key(&session), range, limit).await?;
        // Those of an erased session have no content.
        let patches = events.iter().filter_map(|event| Some((committed(event)?, event.at))).collect();
        Ok(Patches { patches, head: record.version, has_more })
    });
    read.await
}

/// Returns one page of the canvases of the workspace, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<ListedCanvas>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        let (before, limit) = page.before_id(List::Canvases)?;
        let found = store::canvas::list(conn, tenant_id, before, limit).await?;
        Ok(Listed::of(found, |last| encode(List::Canvases, last.session_id.0)))
    });
    read.await
}
