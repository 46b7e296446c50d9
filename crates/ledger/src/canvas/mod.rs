//! Canvases: documents that people and agents edit together. Each is a mixed session of its own.
//!
//! A patch is decided under the lock of the session ([`domain::canvas::decide`]). Its event, the document and its id
//! are written in one transaction. Everyone in the workspace reads a canvas, as every session; its creator and
//! participants with the role `edit` change it, and those with the role `suggest` suggest changes.

mod beside;
mod complete;
mod create;
mod document;
mod history;
pub(crate) mod inbox;
mod participant;
mod patch;
mod presence;
mod preview;
mod read;
mod restore;
mod suggestion;
mod template;
mod uncommitted;
mod undo;
mod write_back;

pub use beside::{Beside, beside};
pub use complete::complete;
pub use create::{NewCanvas, create};
pub(crate) use document::committed;
pub use history::{History, Version, Versions, history};
pub use inbox::{DecidedSuggestion, SuggestionInbox, WaitingSuggestion, undo_decision, waiting};
pub use participant::{may_manage, participants, put_participant, remove_participant};
pub use patch::{Outcome, SentPatch, patch};
pub use presence::{Place, Present, mark_presence};
pub use preview::{Preview, ShownSuggestion};
pub use read::{At, Canvas, Patches, get, list, patches, state, wait_for_patches, writing_tasks};
pub use restore::restore;
pub use suggestion::{Decision, SuggestionDecision, decide_suggestion, decide_suggestions, suggestions};
pub use template::{set_template, templates};
pub(crate) use uncommitted::Uncommitted;

use crate::{
    Error, Ledger, Result,
    left_open::{self, LeftOpen},
    visibility::{canvas_role, require_visible},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    canvas::ParticipantRole,
    id::{SessionId, TenantId},
    session::Session,
};
use store::{CanvasRecord, Conn, WriteTx};

/// Abandons canvases that no one changed for `left_for`. Returns how many.
pub async fn sweep(ledger: &Ledger, left_for: TimeDelta) -> Result<u64> {
    left_open::sweep(ledger, LeftOpen::Canvas, left_for).await
}

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

/// Refuses callers who may not change a canvas.
async fn require_editor(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> Result<()> {
    match canvas_role(conn, scope, session).await? {
        Some(ParticipantRole::Edit) => Ok(()),
        Some(ParticipantRole::Suggest | ParticipantRole::View) | None => Err(not_an_editor()),
    }
}

fn not_an_editor() -> Error {
    Error::Forbidden("only participants with the role edit can change this canvas")
}
