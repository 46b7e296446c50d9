//! Handles the end of a session for other sessions: dependents start or are skipped, a waiting parent is queued
//! again, children of a cancelled session are cancelled, the run of a composite tool is advanced, and a task writes the
//! result of a tool.
//!
//! The transaction that ends a session only records the ending. A second step handles it: the same request after
//! the commit, or a sweep if the process stops in between. Therefore ending a session never waits for locks of
//! other sessions, which could be waiting for its own lock. Each session is decided under its lock, so repeating
//! the step has no further effect.

use super::{
    BATCH,
    graph::{resume_parent, start_or_skip, step},
};
use crate::{
    Ledger, Result, commit::Minter, composition::advance, instance_key::InstanceKey, tool_output::write_output,
};
use domain::{
    Scope,
    id::{SessionId, TenantId},
    limit::{FOLLOW_AT_ONCE_MAX, FOLLOW_CHUNK},
    session::{Command, EndReason, Session, WaitsFor},
    tool::run::{ToolRun, ends_children, is_composite},
};
use std::collections::VecDeque;
use store::{Access, WriteTx, session::graph as rows};

/// A session whose ending has to be handled.
pub(crate) type Ending = (TenantId, SessionId);

/// Handles endings that were just committed and the endings that result from them, up to [`FOLLOW_AT_ONCE_MAX`].
/// Endings that fail or are left remain recorded and are handled by the sweep.
pub(crate) async fn follow_at_once(ledger: &Ledger, endings: Vec<Ending>) {
    let mut queue = VecDeque::from(endings);
    for _ in 0..FOLLOW_AT_ONCE_MAX {
        let Some((tenant_id, id)) = queue.pop_front() else { return };
        match follow(ledger, tenant_id, id).await {
            Ok(further) => queue.extend(further),
            Err(error) => {
                tracing::warn!(session = %id, %error, "cannot follow up its end; the sweep tries again");
            }
        }
    }
}

/// Handles all recorded endings and those that result from them. Returns how many. An ending that fails does not
/// stop the others.
pub(super) async fn follow_noted(ledger: &Ledger) -> Result<u64> {
    let mut followed = 0;
    loop {
        let walked = walk(ledger).await?;
        followed += walked.followed;
        if !walked.has_further {
            return Ok(followed);
        }
    }
}

#[derive(Default)]
struct FollowedEndings {
    followed: u64,
    /// Whether handling these endings ended further sessions.
    has_further: bool,
}

/// Handles each recorded ending once.
async fn walk(ledger: &Ledger) -> Result<FollowedEndings> {
    let mut walked = FollowedEndings::default();
    let mut after = None;
    loop {
        let look = ledger.store().read(Access::System, async move |conn| rows::endings(conn, after, BATCH).await);
        let noted = look.await?;
        for (tenant_id, id) in &noted {
            match follow(ledger, *tenant_id, *id).await {
                Ok(further) => {
                    walked.followed += 1;
                    walked.has_further |= !further.is_empty();
                }
                Err(error) => tracing::warn!(session = %id, %error, "cannot follow up its end; it is tried again"),
            }
        }
        after = noted.last().map(|(_, id)| *id);
        if noted.len() < BATCH as usize {
            return Ok(walked);
        }
    }
}

/// Sessions that may change because a session ended.
struct AffectedSessions {
    ended: Session,
    ids: Vec<SessionId>,
    /// Whether there are more children to cancel than `ids` contains.
    has_more: bool,
}

/// Handles one ending. Returns the endings that result from it.
async fn follow(ledger: &Ledger, tenant_id: TenantId, id: SessionId) -> Result<Vec<Ending>> {
    let access: Access = (&Scope::system(tenant_id)).into();
    let mut further = Vec::new();
    loop {
        let look = ledger.store().read(access, async move |conn| touched(conn, tenant_id, id).await);
        let Some(AffectedSessions { ended, ids, has_more }) = look.await? else { return Ok(further) };
        for chunk in ids.chunks(FOLLOW_CHUNK) {
            let now = ledger.now();
            let chunk: Vec<_> = chunk.iter().map(|id| (*id, Minter::new(ledger, now))).collect();
            let (ended, key) = (ended.clone(), ledger.instance_key().ok().cloned());
            let moved = ledger.store().write(access, async move |tx| apply_ending(tx, &ended, chunk, key).await);
            further.extend(moved.await?.endings);
        }
        if ended.parent_id.is_some() && ToolRun::of_session(&ended).is_some() {
            // A step after it may be a call of a server.
            ledger.runs_for_server().notify_one();
        }
        if !has_more {
            further.extend(write_output(ledger, &ended).await?);
            break;
        }
    }
    let deleted = ledger.store().write(access, async move |tx| rows::delete_ending(tx, tenant_id, id).await);
    further.extend(deleted.await?.endings);
    Ok(further)
}

/// Returns the sessions that a recorded ending may change. `None` if the ending is already handled.
async fn touched(
    conn: &mut store::Conn<'_>,
    tenant_id: TenantId,
    id: SessionId,
) -> store::Result<Option<AffectedSessions>> {
    if !rows::is_noted(conn, tenant_id, id).await? {
        return Ok(None);
    }
    let Some(ended) = store::session::find(conn, tenant_id, id).await? else { return Ok(None) };
    let mut ids = rows::dependents_waiting(conn, tenant_id, id).await?;
    ids.extend(ended.parent_id);
    let mut has_more = false;
    if ends_children(&ended) {
        let children = rows::children_unfinished(conn, tenant_id, id, BATCH as usize).await?;
        has_more = children.len() == BATCH as usize;
        ids.extend(children);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(Some(AffectedSessions { ended, ids, has_more }))
}

/// Decides these sessions after `ended` has ended. They are locked in the order of their ids.
async fn apply_ending(
    tx: &mut WriteTx<'_>,
    ended: &Session,
    chunk: Vec<(SessionId, Minter)>,
    key: Option<InstanceKey>,
) -> Result<()> {
    let ids: Vec<_> = chunk.iter().map(|(id, _)| *id).collect();
    let locked = rows::lock_many(tx, ended.tenant_id, &ids).await?;
    let mut minters = chunk.into_iter().peekable();
    let along = ends_children(ended);
    for session in locked {
        // Both lists are ordered by id. Sessions that do not exist are skipped.
        while minters.next_if(|(id, _)| *id < session.id).is_some() {}
        let Some((_, minter)) = minters.next() else { return Ok(()) };
        if along && session.parent_id == Some(ended.id) {
            if !session.status().is_final() {
                let how = match ended.end_reason() {
                    Some(EndReason::Cancelled) => "was cancelled",
                    Some(EndReason::DependencyFailed) => "never began",
                    _ => "did not complete",
                };
                let reason = format!("session {}, which started it, {how}", ended.id);
                step(tx, session, Command::Cancel, reason, minter).await?;
            }
        } else if is_composite(&session) && ended.parent_id == Some(session.id) {
            advance(tx, session, minter, key.as_ref()).await?;
        } else if session.waits_for() == Some(WaitsFor::Dependencies) {
            start_or_skip(tx, session, minter).await?;
        } else if session.waits_for() == Some(WaitsFor::Children) && ended.parent_id == Some(session.id) {
            resume_parent(tx, session, minter).await?;
        }
    }
    Ok(())
}
