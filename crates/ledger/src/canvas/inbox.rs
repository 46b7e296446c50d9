//! Suggestions in the inbox of a person: what each would change now, and undoing a decision.

use super::{
    create::digest_of,
    document::{committed, document_at, events_of_patches, unreadable},
    find_locked, key, not_found,
    patch::{Outcome, check, counted, decided, repeated, require_few_open},
    preview::{Newest, Preview},
    require_editor,
    suggestion::find_suggestion,
    undo::undo_id,
};
use crate::{Error, Ledger, Result, audit::Act, commit::Minter, guard::require, visibility::require_visible};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    audit::{Kind, TargetKind},
    canvas::{Patch, SuggestionState},
    id::{SessionId, TenantId},
    limit::{CANVAS_INBOX_PAGE, CANVAS_UNDO_MINUTES},
    role::Permission,
    session::{Refusal, Session},
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use store::{Conn, SuggestionRecord, WriteTx};

/// A suggestion that the reader may decide.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingSuggestion {
    /// Session of the canvas.
    pub session: Session,
    /// Who suggests what, and when.
    pub record: SuggestionRecord,
    /// What it would change now.
    pub preview: Preview,
}

/// A decision about a suggestion that can still be undone.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedSuggestion {
    /// Session of the canvas.
    pub session: Session,
    /// Who suggested what, and when it was accepted or declined.
    pub record: SuggestionRecord,
}

/// The suggestions of one person's inbox.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuggestionInbox {
    /// The oldest ones, at most [`CANVAS_INBOX_PAGE`].
    pub items: Vec<WaitingSuggestion>,
    /// Number of all that wait for the person.
    pub count: u64,
    /// Those that the person decided within [`CANVAS_UNDO_MINUTES`] and did not undo, the newest decision first.
    pub decided: Vec<DecidedSuggestion>,
}

/// Returns the suggestions that the caller may decide; none for a token.
pub async fn waiting(ledger: &Ledger, scope: &Scope) -> Result<SuggestionInbox> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| waiting_on(conn, &reader, now).await).await
}

async fn waiting_on(conn: &mut Conn<'_>, scope: &Scope, now: Timestamp) -> Result<SuggestionInbox> {
    let Some(user_id) = scope.user_id() else { return Ok(SuggestionInbox::default()) };
    let actor = scope.caller.to_string();
    let (tenant_id, person) = (scope.tenant_id, (user_id, actor.as_str()));
    let since = now - TimeDelta::minutes(CANVAS_UNDO_MINUTES);
    let open = store::canvas_inbox::waiting_for(conn, tenant_id, person, CANVAS_INBOX_PAGE).await?;
    let decided = store::canvas_inbox::decided_by(conn, tenant_id, &actor, since, CANVAS_INBOX_PAGE).await?;
    let count = store::canvas_inbox::count(conn, tenant_id, person, u32::MAX).await?;
    let ids: BTreeSet<SessionId> = open.iter().chain(&decided).map(|record| record.session_id).collect();
    let sessions = sessions(conn, scope, ids).await?;
    let items = with_previews(conn, tenant_id, &sessions, open).await?;
    let decided = not_undone(conn, tenant_id, &sessions, decided).await?;
    Ok(SuggestionInbox { items, count, decided })
}

/// Sessions of canvases, by their ids.
type Sessions = BTreeMap<SessionId, Session>;

/// The sessions with these ids, all of which the caller can see.
async fn sessions(conn: &mut Conn<'_>, scope: &Scope, ids: BTreeSet<SessionId>) -> Result<Sessions> {
    let mut sessions = Sessions::new();
    if ids.is_empty() {
        return Ok(sessions);
    }
    let ids: Vec<SessionId> = ids.into_iter().collect();
    for session in store::session::list_by_ids(conn, scope.tenant_id, &ids).await? {
        let session = require_visible(conn, scope, Some(session)).await?;
        sessions.insert(session.id, session);
    }
    Ok(sessions)
}

/// These suggestions with what each would change now. What they are compared with is read once for each canvas.
async fn with_previews(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    sessions: &Sessions,
    open: Vec<SuggestionRecord>,
) -> Result<Vec<WaitingSuggestion>> {
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let ids: BTreeSet<SessionId> = open.iter().map(|record| record.session_id).collect();
    let ids: Vec<SessionId> = ids.into_iter().collect();
    let canvases = store::canvas_inbox::canvases(conn, tenant_id, &ids).await?;
    let mut newest = BTreeMap::new();
    for canvas in &canvases {
        let session = sessions.get(&canvas.session_id).ok_or_else(not_found)?;
        let of_canvas = open.iter().filter(|record| record.session_id == canvas.session_id);
        let bases: BTreeSet<u64> = of_canvas.map(|record| record.base).collect();
        newest.insert(session.id, Newest::read(conn, session, canvas, bases).await?);
    }
    let mut items = Vec::with_capacity(open.len());
    for record in open {
        let newest = newest.get(&record.session_id).ok_or_else(not_found)?;
        let preview = newest.preview(conn, &record).await?;
        items.push(WaitingSuggestion { session: newest.session.clone(), record, preview });
    }
    Ok(items)
}

/// Those of these decisions that were not undone. A decline that is undone is none any more, while an accepted
/// suggestion stays accepted.
async fn not_undone(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    sessions: &Sessions,
    decided: Vec<SuggestionRecord>,
) -> Result<Vec<DecidedSuggestion>> {
    if decided.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<SessionId> = decided.iter().map(|record| record.session_id).collect();
    let undo_ids: Vec<String> = decided.iter().map(|record| undo_id(&record.op_id)).collect();
    let undone = store::canvas_inbox::accepted_patches(conn, tenant_id, &ids, &undo_ids).await?;
    let mut left = Vec::with_capacity(decided.len());
    for (record, undo_id) in decided.into_iter().zip(undo_ids) {
        // Suggestions for two canvases can have one id, and then the patches that undo them have one id too.
        if !undone.contains(&(record.session_id, undo_id)) {
            let session = sessions.get(&record.session_id).ok_or_else(not_found)?.clone();
            left.push(DecidedSuggestion { session, record });
        }
    }
    Ok(left)
}

/// Counts the suggestions that the caller may decide; none for a token. Counting stops at `at_most`.
pub(crate) async fn count_on(conn: &mut Conn<'_>, scope: &Scope, at_most: u32) -> Result<u64> {
    let Some(user_id) = scope.user_id() else { return Ok(0) };
    let actor = scope.caller.to_string();
    Ok(store::canvas_inbox::count(conn, scope.tenant_id, (user_id, actor.as_str()), at_most).await?)
}

/// Undoes a decision about a suggestion. A declined one waits again, without the reason. An accepted one is undone by a
/// patch of the caller that writes the earlier values. Each is guarded by a test of the value that the suggestion
/// wrote: if someone has changed one since, the patch is rejected and nothing changes. A repeat returns the recorded
/// result of that patch.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas or suggestion; [`Error::Forbidden`] if the caller may not change the
/// canvas; [`Error::NotNow`] if it was not decided within [`CANVAS_UNDO_MINUTES`]; [`Error::Refused`] if the canvas has
/// ended; [`Error::Invalid`] if the earlier values are too large for one patch; [`Error::LimitReached`] and
/// [`Error::TooManyAttempts`] as for a patch, and for a suggestion.
pub async fn undo_decision(ledger: &Ledger, scope: &Scope, id: SessionId, op_id: String) -> Result<Outcome> {
    require(scope, Permission::StartSession)?;
    let (caller, minter) = (*scope, Minter::new(ledger, ledger.now()));
    let written = ledger.write(scope.into(), async move |tx| undo(tx, &caller, id, &op_id, minter).await);
    counted(ledger, scope, id, written).await
}

async fn undo(tx: &mut WriteTx<'_>, scope: &Scope, id: SessionId, op_id: &str, minter: Minter) -> Result<Outcome> {
    let (session, canvas) = find_locked(tx, scope, id).await?;
    require_editor(tx.conn(), scope, &session).await?;
    let found = find_suggestion(tx, &session, op_id).await?;
    if let Some(known) = store::canvas::patch(tx.conn(), key(&session), &undo_id(op_id)).await? {
        return repeated(tx.conn(), &session, &known, known.body_digest).await;
    }
    if session.status().is_final() {
        return Err(Refusal::AlreadyFinal { status: session.status() }.into());
    }
    let since = minter.at() - TimeDelta::minutes(CANVAS_UNDO_MINUTES);
    if found.decided_at.is_none_or(|at| at <= since) {
        return Err(Error::NotNow("only a decision of the last hour about a suggestion can be undone"));
    }
    if found.state == SuggestionState::Declined {
        return reopen(tx, scope, &session, (&found, minter.at())).await;
    }
    let patch = inverse(tx.conn(), &session, op_id, canvas.version).await?;
    check(tx.conn(), scope, &session, &canvas, &patch, &minter).await?;
    let (digest, author) = (digest_of(&patch), scope.caller.to_string());
    decided(tx, scope, (session, canvas), (patch, digest, author), minter).await
}

/// Makes a declined suggestion wait again.
async fn reopen(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: &Session,
    (found, at): (&SuggestionRecord, Timestamp),
) -> Result<Outcome> {
    require_few_open(tx.conn(), session).await?;
    store::canvas::reopen_suggestion(tx, key(session), &found.op_id).await?;
    let act = Act::new(Kind::CanvasSuggestionReopened, scope.caller, at).on(TargetKind::Session, session.id.0);
    act.with(json!({ "author": found.author })).record(tx, scope.tenant_id).await?;
    tx.counts_changed(scope.tenant_id);
    Ok(Outcome::Suggested(SuggestionState::Open))
}

/// The patch that undoes another one on the newest document.
async fn inverse(conn: &mut Conn<'_>, session: &Session, op_id: &str, head: u64) -> Result<Patch> {
    let known = store::canvas::patch(conn, key(session), op_id).await?.ok_or(Error::NotFound("patch"))?;
    let range = (known.sequence.saturating_sub(1), known.sequence);
    let (events, _) = events_of_patches(conn, key(session), range, 1).await?;
    let made = events.first().and_then(committed).ok_or_else(|| unreadable(known.sequence))?;
    let (before, _) = document_at(conn, key(session), made.previous).await?;
    let applied = before.apply(&made.ops).map_err(|_| unreadable(known.sequence))?;
    let patch = Patch { op_id: undo_id(op_id), base: head, ops: applied.inverse, is_strict: false };
    patch.check().map_err(|invalid| Error::invalid(invalid.field, invalid.reason))?;
    Ok(patch)
}
