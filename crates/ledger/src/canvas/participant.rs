//! The participants of a canvas.

use super::{find, find_locked, key};
use crate::{Error, Ledger, Result, audit::Act, guard::require, visibility::own_or_managed};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    canvas::{Participant, ParticipantRole},
    id::{SessionId, TenantId},
    limit::CANVAS_PARTICIPANTS_MAX,
    role::Permission,
    session::Session,
};
use serde_json::json;
use store::{Conn, ParticipantRecord, token, user};

/// Returns the participants of a canvas. Its creator, who edits it too, is not among them unless added.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas.
pub async fn participants(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Vec<ParticipantRecord>> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, reader.tenant_id, id).await?;
        let (session, _) = find(conn, &reader, session).await?;
        Ok(store::canvas::participants(conn, key(&session), CANVAS_PARTICIPANTS_MAX).await?)
    });
    read.await
}

/// Whether the caller may change who takes part in a canvas: as its creator, operator or admin.
pub fn may_manage(scope: &Scope, session: &Session) -> bool {
    own_or_managed(scope, session).is_ok()
}

/// Adds a participant, or changes their role. For the creator of the canvas, and for operators and admins.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Forbidden`] for other callers; [`Error::Invalid`] if the
/// workspace has no such person or token; [`Error::LimitReached`] for more than [`CANVAS_PARTICIPANTS_MAX`].
pub async fn put_participant(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    who: &str,
    role: ParticipantRole,
) -> Result<()> {
    require(scope, Permission::StartSession)?;
    let named = Participant::parse(who).ok_or_else(no_such_participant)?;
    let (now, caller) = (ledger.now(), *scope);
    let written = ledger.write(scope.into(), async move |tx| {
        let (session, _) = find_locked(tx, &caller, id).await?;
        own_or_managed(&caller, &session)?;
        require_known(tx.conn(), caller.tenant_id, &named).await?;
        let known = store::canvas::participants(tx.conn(), key(&session), CANVAS_PARTICIPANTS_MAX).await?;
        let participant = named.to_string();
        let is_new = known.iter().all(|one| one.participant != participant);
        if is_new && known.len() >= CANVAS_PARTICIPANTS_MAX as usize {
            return Err(Error::LimitReached(format!("a canvas has at most {CANVAS_PARTICIPANTS_MAX} participants")));
        }
        let added_by = caller.caller.to_string();
        let is_same = known.iter().any(|one| one.participant == participant && one.role == role);
        let act = Act::new(Kind::CanvasParticipantSet, caller.caller, now).on(TargetKind::Session, id.0);
        let act = act.with(json!({ "participant": participant, "role": role.as_str() }));
        let record = ParticipantRecord { participant, role, added_by, added_at: now };
        store::canvas::put_participant(tx, key(&session), &record).await?;
        if is_same { Ok(()) } else { act.record(tx, caller.tenant_id).await }
    });
    written.await
}

/// Removes a participant. A repeat changes nothing. For the creator of the canvas, and for operators and admins.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Forbidden`] for other callers.
pub async fn remove_participant(ledger: &Ledger, scope: &Scope, id: SessionId, who: &str) -> Result<()> {
    require(scope, Permission::StartSession)?;
    let named = Participant::parse(who).ok_or_else(no_such_participant)?;
    let (now, caller) = (ledger.now(), *scope);
    let written = ledger.write(scope.into(), async move |tx| {
        let (session, _) = find_locked(tx, &caller, id).await?;
        own_or_managed(&caller, &session)?;
        let participant = named.to_string();
        if !store::canvas::remove_participant(tx, key(&session), &participant).await? {
            return Ok(());
        }
        let act = Act::new(Kind::CanvasParticipantRemoved, caller.caller, now).on(TargetKind::Session, id.0);
        act.with(json!({ "participant": participant })).record(tx, caller.tenant_id).await
    });
    written.await
}

/// Refuses people and tokens that the workspace does not have. Agents are in the settings of each server, so any slug
/// is accepted; one that no agent has gives nobody a right.
async fn require_known(conn: &mut Conn<'_>, tenant_id: TenantId, named: &Participant) -> Result<()> {
    let is_known = match named {
        Participant::User(id) => user::find_member(conn, tenant_id, *id).await?.is_some(),
        Participant::Token(id) => {
            token::find_by_id(conn, tenant_id, *id).await?.is_some_and(|token| token.revoked_at.is_none())
        }
        Participant::Agent(_) => true,
    };
    if is_known { Ok(()) } else { Err(no_such_participant()) }
}

fn no_such_participant() -> Error {
    let expected = "`user:` or `token:` and the id of a member or token of this workspace, or `agent:` and a slug";
    Error::invalid("participant", expected)
}
