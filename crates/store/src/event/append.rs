//! Appends: many requests in one transaction, with one statement per step.
//!
//! The common path assumes that all ids are new and relies on the unique index to reject a repeat. Only
//! after such a rejection is each request compared with the recorded events. Sequences come from the
//! counter on the locked session row.

use super::{
    AppendOutcome, AppendRefusal, AppendRequest, Head, NewRow, Notice, PreparedEvent,
    chain::link,
    head::write,
    lock_heads,
    recorded::{Recorded, find_recorded},
};
use crate::engine::{Conn, Error};
use domain::{
    chain::Digest,
    clock::truncate,
    event::{Author, Event, may_write},
    id::{SessionId, TenantId},
    limit::SESSION_EVENTS_MAX,
    session::{Actor, Command, Position, decide},
};
use std::{collections::HashMap, sync::Arc};

/// The result of one request of a group.
pub(crate) type Settled = Result<AppendOutcome, AppendRefusal>;

/// The notices of a group of appends. They are sent once the group is committed.
#[derive(Default)]
pub(crate) struct GroupNotices(HashMap<(TenantId, SessionId), (Head, Vec<Event>)>);

impl GroupNotices {
    pub(super) fn add(&mut self, head: &Head, events: Vec<Event>) {
        let entry = self.0.entry((head.tenant_id, head.id)).or_insert_with(|| (head.clone(), Vec::new()));
        entry.0 = head.clone();
        entry.1.extend(events);
    }

    /// Adds all rows that the group wrote, with the new heads of their sessions.
    fn take(&mut self, heads: &HashMap<(TenantId, SessionId), Head>, rows: Vec<NewRow>) {
        for NewRow { tenant_id, record } in rows {
            let key = (tenant_id, record.session_id);
            if let Some(head) = heads.get(&key) {
                self.0.entry(key).or_insert_with(|| (head.clone(), Vec::new())).1.push(record);
            }
        }
    }

    /// The new heads of the sessions that the group wrote to.
    pub(crate) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.0.values().map(|(head, _)| head)
    }

    pub(crate) fn into_notices(self) -> Vec<Notice> {
        let notice = |(head, events): (Head, Vec<Event>)| Notice {
            tenant_id: head.tenant_id,
            session_id: head.id,
            head_sequence: head.head_sequence,
            status: head.status,
            status_changed: false,
            events: Arc::from(events),
        };
        self.0.into_values().map(notice).collect()
    }
}

/// Applies a group, assuming that no id repeats and that no row is refused. The caller rolls a failed group back and
/// repeats it with [`apply_one_by_one`].
pub(crate) async fn apply(
    conn: &mut Conn<'_>,
    requests: &[&AppendRequest],
    notices: &mut GroupNotices,
) -> Result<Vec<Settled>, sqlx::Error> {
    let mut heads = lock_heads(conn, requests.iter().map(|r| (r.tenant_id, r.session_id))).await?;
    let mut settled = Vec::with_capacity(requests.len());
    let mut rows = Vec::new();
    for request in requests {
        let Some(head) = heads.get_mut(&(request.tenant_id, request.session_id)) else {
            settled.push(Err(AppendRefusal::NoSession));
            continue;
        };
        match check(head, request) {
            Ok(()) => {
                let new: Vec<NewRow> = request.events.iter().map(|e| place(head, request, e)).collect();
                settled.push(Ok(outcome(head, &new)));
                rows.extend(new);
            }
            // A repeat of an accepted append returns what was recorded, whatever the session's status is now.
            Err(refusal) => settled.push(recorded(conn, head, request).await?.unwrap_or(Err(refusal))),
        }
    }
    let moved: Vec<&Head> = heads.values().filter(|head| head.moved).collect();
    write(conn, &rows, &moved).await?;
    notices.take(&heads, rows);
    Ok(settled)
}

/// Applies requests one after another, each in its own savepoint and checked for events that are recorded already. A
/// request that the database refuses fails alone.
///
/// # Errors
/// What stops every request: a lost connection, a full disk, a lock that was not released in time.
pub(crate) async fn apply_one_by_one(
    conn: &mut Conn<'_>,
    requests: &[&AppendRequest],
    notices: &mut GroupNotices,
) -> Result<Vec<Settled>, sqlx::Error> {
    let mut settled = Vec::with_capacity(requests.len());
    for request in requests {
        conn.savepoint().await?;
        match apply_one(conn, request, notices).await {
            Ok(done) => {
                conn.release().await?;
                settled.push(done);
            }
            Err(error) => settled.push(Err(undo_one(conn, request, error).await?.into())),
        }
    }
    Ok(settled)
}

/// Undoes a request that the database refused, and returns the refusal. Any other error is passed on.
async fn undo_one(conn: &mut Conn<'_>, request: &AppendRequest, error: sqlx::Error) -> Result<Error, sqlx::Error> {
    let refusal = Error::from(&error);
    if !refusal.is_of_item() {
        return Err(error);
    }
    conn.undo().await?;
    tracing::error!(%error, session_id = %request.session_id, "the database refused an append");
    Ok(refusal)
}

async fn apply_one(
    conn: &mut Conn<'_>,
    request: &AppendRequest,
    notices: &mut GroupNotices,
) -> Result<Settled, sqlx::Error> {
    let key = (request.tenant_id, request.session_id);
    let mut heads = lock_heads(conn, std::iter::once(key)).await?;
    let Some(head) = heads.get_mut(&key) else {
        return Ok(Err(AppendRefusal::NoSession));
    };
    let known = find_recorded(conn, head, request).await?;
    if let Some((index, recorded)) = conflict(request, &known) {
        return Ok(Err(AppendRefusal::Conflict { index, recorded }));
    }
    let fresh: Vec<&PreparedEvent> =
        request.events.iter().zip(&known).filter(|(_, k)| k.is_none()).map(|(e, _)| e).collect();
    if !fresh.is_empty()
        && let Err(refusal) = check(head, request)
    {
        return Ok(Err(refusal));
    }
    let new: Vec<NewRow> = fresh.into_iter().map(|e| place(head, request, e)).collect();
    write(conn, &new, &[&*head]).await?;
    let mut placed = new.iter().map(|row| (row.record.id, row.record.sequence));
    let events =
        known.iter().filter_map(|k| k.as_ref().map(|k| (k.id, k.sequence)).or_else(|| placed.next())).collect();
    notices.add(head, new.into_iter().map(|row| row.record).collect());
    Ok(Ok(AppendOutcome { events, head_sequence: head.head_sequence }))
}

/// The recorded outcome of a request whose events are all recorded already, or a refusal if one of them
/// differs; `None` if an event is new.
async fn recorded(conn: &mut Conn<'_>, head: &Head, request: &AppendRequest) -> Result<Option<Settled>, sqlx::Error> {
    if !request.events.iter().all(|e| e.client_made || e.external_event_id.is_some()) {
        return Ok(None);
    }
    let known = find_recorded(conn, head, request).await?;
    if let Some((index, recorded)) = conflict(request, &known) {
        return Ok(Some(Err(AppendRefusal::Conflict { index, recorded })));
    }
    let events: Option<Vec<_>> = known.iter().map(|k| k.as_ref().map(|k| (k.id, k.sequence))).collect();
    Ok(events.map(|events| Ok(AppendOutcome { events, head_sequence: head.head_sequence })))
}

/// The first event that is recorded already with other values: its position and the digest of the recorded
/// body.
fn conflict(request: &AppendRequest, known: &[Option<Recorded>]) -> Option<(usize, Digest)> {
    request.events.iter().zip(known).enumerate().find_map(|(index, (sent, known))| {
        let known = known.as_ref()?;
        let same = known.kind == sent.kind.as_str()
            && known.role == sent.role.as_str()
            && known.body == sent.body
            && known.thread_id == sent.thread_id
            && known.external_event_id == sent.external_event_id
            && (!sent.client_made || known.id == sent.id)
            && sent.at.is_none_or(|at| truncate(at) == known.at);
        (!same).then_some((index, known.body))
    })
}

/// Whether the session's status, attempt and size allow this append.
pub(super) fn check(head: &Head, request: &AppendRequest) -> Result<(), AppendRefusal> {
    let author = match request.attempt {
        Some(attempt) => {
            let state = Position {
                status: head.status,
                session_type: head.session_type,
                attempt: head.attempt,
                attempts_max: head.attempts_max,
            };
            #[cfg(feature = "planted-bugs")]
            let attempt =
                if crate::engine::planted::is(crate::engine::planted::Bug::NoFencing) { head.attempt } else { attempt };
            decide(state, Actor::Worker { attempt }, Command::Append)?;
            Author::Worker
        }
        None => Author::Person { owner: request.user_id.is_some() && request.user_id == head.user_id },
    };
    for (index, event) in request.events.iter().enumerate() {
        may_write(author, head.session_type, head.status, &event.kind)
            .map_err(|refusal| AppendRefusal::Write { index, refusal })?;
    }
    if head.head_sequence + request.events.len() as u64 > SESSION_EVENTS_MAX {
        return Err(AppendRefusal::SessionFull);
    }
    Ok(())
}

/// Gives an event the next sequence and its digest in the chain.
pub(super) fn place(head: &mut Head, request: &AppendRequest, event: &PreparedEvent) -> NewRow {
    let row = link(head, event, request.attempt, &request.actor, request.recorded_at);
    #[cfg(feature = "planted-bugs")]
    if crate::engine::planted::is(crate::engine::planted::Bug::SequenceGap) && head.head_sequence % 97 == 96 {
        head.head_sequence += 1;
    }
    row
}

fn outcome(head: &Head, rows: &[NewRow]) -> AppendOutcome {
    AppendOutcome {
        events: rows.iter().map(|row| (row.record.id, row.record.sequence)).collect(),
        head_sequence: head.head_sequence,
    }
}
