//! Reading canvases, their versions and their patches.

use super::{
    document::{committed, document_at, events_of_patches, unreadable},
    find, key,
};
use crate::{
    Error, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    event::{Follow, Following, follow},
    guard::require,
    visibility::canvas_role,
};
use domain::{
    Scope, Timestamp,
    action::OutputType,
    canvas::{Committed, Document, ParticipantRole},
    id::{ActionId, SessionId},
    limit::CANVAS_BEHIND_MAX,
    role::Permission,
    session::Session,
};
use futures_util::future::{Either, select};
use std::{pin::pin, time::Duration};
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

pub(super) async fn get_on(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<Canvas> {
    let session = store::session::find(conn, scope.tenant_id, id).await?;
    let (session, record) = find(conn, scope, session).await?;
    let role = canvas_role(conn, scope, &session).await?;
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

pub(super) fn no_such_version(record: &CanvasRecord) -> Error {
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

/// Returns patches of a canvas after a version, as [`patches`]. If there are none, it waits at most `wait` for one, or
/// for the end of the canvas. Stops waiting when `stop` is ready.
///
/// # Errors
/// Those of [`patches`].
pub async fn wait_for_patches(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    (after, limit): (u64, u32),
    wait: Duration,
    stop: impl Future<Output = ()>,
) -> Result<Patches> {
    if wait.is_zero() {
        return patches(ledger, scope, id, after, limit).await;
    }
    // It is followed before the patches are read, so none is missed. A sequence beyond the end of the log is its end.
    let mut following = follow(ledger, scope, id, u64::MAX).await?;
    let found = patches(ledger, scope, id, after, limit).await?;
    if !found.patches.is_empty() {
        return Ok(found);
    }
    let changed = pin!(tokio::time::timeout(wait, changed(&mut following)));
    if let Either::Left((Ok(Err(error)), _)) = select(changed, pin!(stop)).await {
        return Err(error);
    }
    patches(ledger, scope, id, after, limit).await
}

/// Waits for a patch, or for the end of the canvas.
async fn changed(following: &mut Following) -> Result<()> {
    loop {
        match following.next().await? {
            Follow::End(_) => return Ok(()),
            Follow::Events(batch) if batch.events().iter().any(|event| committed(event).is_some()) => return Ok(()),
            Follow::Events(_) | Follow::Delta(_) | Follow::Progress(_) | Follow::Presence(_) => {}
        }
    }
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

/// Number of tasks that pages offer for writing a canvas to its entity. The API takes the others.
const TASKS: u32 = 200;

/// Returns active tasks that can write a canvas to its entity, with their names, newest first.
pub async fn writing_tasks(ledger: &Ledger, scope: &Scope) -> Result<Vec<(ActionId, String)>> {
    require(scope, Permission::WriteEntities)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        let found = store::action::of_any_entity(conn, tenant_id, TASKS).await?;
        let tasks = found.items.into_iter().filter(|task| task.output_type == OutputType::Fields);
        Ok(tasks.map(|task| (task.id, task.name)).collect())
    });
    read.await
}
