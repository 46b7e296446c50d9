//! Canvases: documents that people and agents edit together. Each is a mixed session of its own.
//!
//! A patch is decided under the lock of the session ([`domain::canvas::decide`]). Its event, the document and its id
//! are written in one transaction. Everyone in the workspace reads a canvas, as every session; its creator and
//! participants with the role `edit` change it, and those with the role `suggest` suggest changes.

mod complete;
mod create;
mod document;
mod participant;
mod patch;
mod read;
mod suggestion;
mod sweep;
mod write_back;

pub use complete::complete;
pub use create::{NewCanvas, create};
pub(crate) use document::committed;
pub use participant::{participants, put_participant, remove_participant};
pub use patch::{Outcome, SentPatch, patch};
pub use read::{At, Canvas, Patches, get, list, patches, state};
pub use suggestion::{Decision, decide_suggestion, suggestions};
pub use sweep::sweep;

use crate::{
    Error, Result,
    visibility::{is_own, require_visible},
};
use domain::{
    Scope,
    canvas::ParticipantRole,
    id::{SessionId, TenantId},
    session::Session,
};
use store::{CanvasRecord, Conn, WriteTx};

fn not_found() -> Error {
    Error::NotFound("canvas")
}

fn key(session: &Session) -> (TenantId, SessionId) {
    (session.tenant_id, session.id)
}

/// Returns a canvas that the caller can see, and its session.
///
/// # Errors
/// [`Error::NotFound`] if there is none.
async fn find(conn: &mut Conn<'_>, scope: &Scope, session: Option<Session>) -> Result<(Session, CanvasRecord)> {
    let session = match require_visible(conn, scope, session).await {
        Err(Error::NotFound(_)) => return Err(not_found()),
        found => found?,
    };
    let canvas = store::canvas::find(conn, session.tenant_id, session.id).await?.ok_or_else(not_found)?;
    Ok((session, canvas))
}

/// Returns a canvas and its session, locked until the transaction ends.
async fn find_locked(tx: &mut WriteTx<'_>, scope: &Scope, id: SessionId) -> Result<(Session, CanvasRecord)> {
    let session = store::session::find_locked(tx, scope.tenant_id, id).await?;
    find(tx.conn(), scope, session).await
}

/// Returns what the caller may do with a canvas beyond reading it.
async fn role_of(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> Result<Option<ParticipantRole>> {
    if is_own(scope, session) {
        return Ok(Some(ParticipantRole::Edit));
    }
    Ok(store::canvas::role(conn, key(session), &scope.caller.to_string()).await?)
}

/// Refuses callers who may not change a canvas.
async fn require_editor(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> Result<()> {
    match role_of(conn, scope, session).await? {
        Some(ParticipantRole::Edit) => Ok(()),
        Some(ParticipantRole::Suggest | ParticipantRole::View) | None => Err(not_an_editor()),
    }
}

fn not_an_editor() -> Error {
    Error::Forbidden("only participants with the role edit can change this canvas")
}
