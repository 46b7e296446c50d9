//! What follows from the end of a session: dependents begin or are given up, a parent that waited goes on, and what a
//! stopped session had started stops too.
//!
//! The transaction that ends a session only notes that it did. Following the note is a second step, of the same request
//! right after the commit, or of a sweep if the process dies in between. So the end of one session never waits for locks
//! of others, which could wait for it. Every step decides each session under its lock and does nothing twice.

use super::{
    graph::{resume_parent, start_or_skip, step},
    sweep::BATCH,
};
use crate::{Ledger, Result, SessionRecord, commit::EventFactory};
use domain::{
    Scope,
    id::{SessionId, TenantId},
    limit::{FOLLOW_AT_ONCE_MAX, FOLLOW_CHUNK},
    session::{Command, EndReason, WaitsFor, graph::cancels_children},
};
use std::collections::VecDeque;
use store::{Access, WriteTx, session::graph as rows};

/// An ended session whose end is to be followed up.
pub(crate) type Ending = (TenantId, SessionId);

/// Follows endings that were just committed, and those that follow from them, as far as one request goes. What fails or
/// is left stays noted: the sweep follows it.
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

/// Follows every ending that is still noted, and what follows from those; how many that were. One that cannot be followed
/// does not hold up the others.
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
    /// Whether further endings followed from these.
    has_further: bool,
}

/// Follows the endings that are noted, once each.
async fn walk(ledger: &Ledger) -> Result<FollowedEndings> {
    let mut walked = FollowedEndings::default();
    let mut after = None;
    loop {
        let look = ledger.store().read(Access::System, move |conn| Box::pin(rows::endings(conn, after, BATCH)));
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

/// Sessions that an end may move.
struct AffectedSessions {
    ended: SessionRecord,
    ids: Vec<SessionId>,
    /// Whether there are more children to stop than were listed.
    has_more: bool,
}

/// Follows one ending; the endings that follow from it.
async fn follow(ledger: &Ledger, tenant_id: TenantId, id: SessionId) -> Result<Vec<Ending>> {
    let access: Access = (&Scope::system(tenant_id)).into();
    let mut further = Vec::new();
    loop {
        let look = ledger.store().read(access, move |conn| Box::pin(async move { touched(conn, tenant_id, id).await }));
        let Some(AffectedSessions { ended, ids, has_more }) = look.await? else { return Ok(further) };
        for chunk in ids.chunks(FOLLOW_CHUNK) {
            let now = ledger.now();
            let chunk: Vec<_> = chunk.iter().map(|id| (*id, EventFactory::new(ledger, now, 2))).collect();
            let ended = ended.clone();
            let moved = ledger.store().write::<_, crate::Error, _>(access, move |tx| {
                Box::pin(async move {
                    apply_ending(tx, &ended, chunk).await?;
                    Ok(tx.take_endings())
                })
            });
            further.extend(moved.await?);
        }
        if !has_more {
            break;
        }
    }
    ledger
        .store()
        .write::<_, crate::Error, _>(access, move |tx| {
            Box::pin(async move { Ok(rows::delete_ending(tx, tenant_id, id).await?) })
        })
        .await?;
    Ok(further)
}

/// What an ending that is still noted may move.
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
    if ended.end_reason().is_some_and(cancels_children) {
        let children = rows::children_unfinished(conn, tenant_id, id, BATCH as usize).await?;
        has_more = children.len() == BATCH as usize;
        ids.extend(children);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(Some(AffectedSessions { ended, ids, has_more }))
}

/// Decides these sessions, locked in id order, now that the other one has ended.
async fn apply_ending(
    tx: &mut WriteTx<'_>,
    ended: &SessionRecord,
    chunk: Vec<(SessionId, EventFactory)>,
) -> Result<()> {
    let ids: Vec<_> = chunk.iter().map(|(id, _)| *id).collect();
    let locked = rows::lock_many(tx, ended.tenant_id, &ids).await?;
    let mut minters = chunk.into_iter().peekable();
    let along = ended.end_reason().is_some_and(cancels_children);
    for session in locked {
        // Both are in id order; a session that is not there has no use for its ids.
        while minters.next_if(|(id, _)| *id < session.id).is_some() {}
        let Some((_, minter)) = minters.next() else { return Ok(()) };
        if along && session.parent_id == Some(ended.id) {
            if !session.status().is_final() {
                let how =
                    if ended.end_reason() == Some(EndReason::Cancelled) { "was cancelled" } else { "never began" };
                let reason = format!("session {}, which started it, {how}", ended.id);
                step(tx, session, Command::Cancel, reason, minter).await?;
            }
        } else if session.waits_for() == Some(WaitsFor::Dependencies) {
            start_or_skip(tx, session, minter).await?;
        } else if session.waits_for() == Some(WaitsFor::Children) && ended.parent_id == Some(session.id) {
            resume_parent(tx, session, minter).await?;
        }
    }
    Ok(())
}
