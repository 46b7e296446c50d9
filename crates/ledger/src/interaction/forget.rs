//! Forgetting the captured prompts and answers of a session, or of all sessions of a person.

use super::earlier_export::{self, EarlierExport};
use crate::{Error, Ledger, Result, audit::Act, guard::require, session, visibility::is_own};
use domain::{
    Scope,
    audit::{Kind as AuditKind, TargetKind},
    event::{Event, Known},
    id::{SessionId, TenantId},
    memory_writer::turn,
    role::Permission,
    session::Session,
};
use store::{Access, Conn, interaction::forgotten};
use uuid::Uuid;

/// Sessions that are looked at in one read.
const SESSIONS: u32 = 100;
/// Events that are read at once.
const EVENTS: u32 = 200;

/// What of a person or of a session is captured, and goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedData {
    /// Sessions of which something is captured or going to be.
    pub sessions: Vec<SessionId>,
    /// Number of prompts with answers.
    pub interactions: u64,
    /// Exports that were begun since the first of them, newest first: their files can have them.
    pub exports: Vec<EarlierExport>,
}

/// Whether the caller may delete what is captured of a session that they see: the person who runs or started it, and
/// admins.
pub fn may_forget(scope: &Scope, session: &Session) -> bool {
    scope.may(Permission::Converse) && (is_own(scope, session) || scope.may(Permission::Administer))
}

/// Checks that the caller may forget a session.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Forbidden`] for the session
/// of another person.
async fn require_own(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<()> {
    require(scope, Permission::Converse)?;
    let session = session::get(ledger, scope, id).await?;
    if may_forget(scope, &session) {
        return Ok(());
    }
    Err(Error::Forbidden("only the person of a session and admins can remove its training data"))
}

/// Finds what [`forget_session`] would delete.
///
/// # Errors
/// Those of [`forget_session`].
pub async fn preview_forget_session(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<CapturedData> {
    require_own(ledger, scope, id).await?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(Access::System, async move |conn| forgotten::count(conn, tenant_id, id).await);
    let count = read.await?;
    let exports = earlier_export::since(ledger, tenant_id, count.first_at).await?;
    Ok(CapturedData { sessions: vec![id], interactions: count.interactions, exports })
}

/// Deletes what is captured of a session, with feedback and outcomes, and captures nothing of it any more. Later
/// exports do not have it. The log does not change.
///
/// Allowed for the person who runs or started the session, and for admins.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Forbidden`] for the session
/// of another person.
pub async fn forget_session(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<CapturedData> {
    require_own(ledger, scope, id).await?;
    let act = Act::new(AuditKind::SessionForgotten, scope.caller, ledger.now()).on(TargetKind::Session, id.0);
    erase(ledger, scope.tenant_id, vec![id], Some(act)).await
}

/// Finds what is captured of people in the workspace. `is_theirs` says whether a path is the document of one of them.
pub(crate) async fn find(
    ledger: &Ledger,
    tenant_id: TenantId,
    is_theirs: impl Fn(&str) -> bool + Clone + Send + Sync + 'static,
) -> Result<CapturedData> {
    let (mut found, mut first_at, mut after) = (CapturedData::default(), None, SessionId(Uuid::nil()));
    loop {
        let is_theirs = is_theirs.clone();
        let read =
            ledger.store().read(Access::System, async move |conn| Ok(page(conn, tenant_id, after, is_theirs).await));
        let (last, sessions) = read.await??;
        for (id, count) in sessions {
            found.sessions.push(id);
            found.interactions += count.interactions;
            first_at = first_at.into_iter().chain(count.first_at).min();
        }
        match last {
            Some(last) => after = last,
            None => break,
        }
    }
    found.exports = earlier_export::since(ledger, tenant_id, first_at).await?;
    Ok(found)
}

/// Deletes what is captured of these sessions. `act` is recorded with each.
pub(crate) async fn erase(
    ledger: &Ledger,
    tenant_id: TenantId,
    sessions: Vec<SessionId>,
    act: Option<Act>,
) -> Result<CapturedData> {
    let (mut interactions, mut first_at) = (0, None);
    for id in &sessions {
        let (id, at, act) = (*id, ledger.now(), act.clone());
        let forgotten = ledger.write(Access::Retention, async move |tx| {
            let count = forgotten::forget(tx, tenant_id, id, at).await?;
            if let Some(act) = act {
                act.record(tx, tenant_id).await?;
            }
            Ok(count)
        });
        let count = forgotten.await?;
        interactions += count.interactions;
        first_at = first_at.into_iter().chain(count.first_at).min();
    }
    ledger.store().empty_wal().await;
    let exports = earlier_export::since(ledger, tenant_id, first_at).await?;
    Ok(CapturedData { sessions, interactions, exports })
}

type Page = (Option<SessionId>, Vec<(SessionId, forgotten::CapturedCount)>);

async fn page(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    after: SessionId,
    is_theirs: impl Fn(&str) -> bool,
) -> Result<Page> {
    let ids = forgotten::sessions_after(conn, tenant_id, after, SESSIONS).await?;
    let mut found = Vec::new();
    for id in &ids {
        let Some(session) = store::session::find(conn, tenant_id, *id).await? else { continue };
        if is_of(conn, &session, session.head_sequence, &is_theirs).await? {
            found.push((*id, forgotten::count(conn, tenant_id, *id).await?));
        }
    }
    Ok((ids.last().copied(), found))
}

/// Whether a session is of one of these people, or has a turn of one of them up to `upto`.
pub(super) async fn is_of(
    conn: &mut Conn<'_>,
    session: &Session,
    upto: u64,
    is_theirs: impl Fn(&str) -> bool,
) -> Result<bool> {
    let people = session.user_id.into_iter().chain(turn::member(&session.created_by));
    if people.map(turn::own_path).any(|path| is_theirs(&path)) {
        return Ok(true);
    }
    let said = |event: &Event| {
        let content = turn::read(&event.kind, &event.actor, &event.content, &event.metadata, None);
        let paths = content
            .into_iter()
            .flat_map(|content| content.speaker.map(|speaker| speaker.path).into_iter().chain(content.earlier_paths));
        let member = turn::member(&event.actor).map(turn::own_path);
        paths.chain(member).any(|path| is_theirs(&path))
    };
    let kinds = [Known::UserMessage.as_str(), Known::UserFormSubmit.as_str()].map(str::to_owned);
    let mut after = 0;
    loop {
        let events = store::event::after(conn, session.tenant_id, session.id, (after, upto), &kinds, EVENTS).await?;
        if events.items.iter().any(said) {
            return Ok(true);
        }
        match events.items.last().filter(|_| events.has_more) {
            Some(last) => after = last.sequence,
            None => return Ok(false),
        }
    }
}
