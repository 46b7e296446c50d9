//! Appends: many requests in one transaction, with one statement per step.
//!
//! The common path assumes that all ids are new and relies on the unique index to reject a repeat. Only
//! after such a rejection is each request compared with the recorded events. Sequences come from the
//! counter on the locked session row.

pub(crate) mod head_cache;

use crate::{
    conn::Conn,
    error::Error,
    event::{self, NewRow},
    record::EventRecord,
    session::{self, Head},
    transaction::Notice,
};
use domain::{
    Timestamp,
    chain::{self, Digest, Link},
    clock::truncate,
    event::{Author, EventRole, Kind, WriteRefusal, may_write},
    id::{EventId, SessionId, TenantId, UserId},
    limit::SESSION_EVENTS_MAX,
    session::{Actor, Command, Position, Refusal, decide},
};
use std::{collections::HashMap, sync::Arc};

/// One event that is validated and hashed, and has no sequence yet.
#[derive(Debug, Clone)]
pub struct PreparedEvent {
    /// The event's id, made by the client or by the server.
    pub id: EventId,
    /// Whether the client made the id. Only then does the id identify a repeated request.
    pub client_made: bool,
    /// What the event is, such as `agent.message`.
    pub kind: Kind,
    /// Who the event is attributed to: user, agent or system.
    pub role: EventRole,
    /// JSON array, as sent by the client.
    pub content: String,
    /// JSON object, as sent by the client.
    pub metadata: String,
    /// The sub-thread within the session that the event is part of.
    pub thread_id: Option<String>,
    /// Id of the event in the system that it came from. It identifies a repeated request too.
    pub external_event_id: Option<String>,
    /// When it happened, if the writer gave a time; otherwise the time of recording is used.
    pub at: Option<Timestamp>,
    /// Digest of content and metadata.
    pub body: Digest,
}

/// One append. Either all of its events are recorded or none.
#[derive(Debug, Clone)]
pub struct AppendRequest {
    /// The workspace.
    pub tenant_id: TenantId,
    /// The session.
    pub session_id: SessionId,
    /// Attempt number of the worker that writes; `None` when a person writes.
    pub attempt: Option<u32>,
    /// The person who writes, if a person does.
    pub user_id: Option<UserId>,
    /// Stored as actor of the events: `user:…`, `token:…` or `system`.
    pub actor: String,
    /// Time of recording (UTC).
    pub recorded_at: Timestamp,
    /// 1 to 500 events.
    pub events: Vec<PreparedEvent>,
}

impl AppendRequest {
    pub(crate) fn bytes(&self) -> usize {
        self.events.iter().map(|e| e.content.len() + e.metadata.len() + 200).sum()
    }
}

/// The sequences that an append was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendOutcome {
    /// Id and sequence of each event, in the order of the request.
    pub events: Vec<(EventId, u64)>,
    /// The newest sequence of the session.
    pub head_sequence: u64,
}

/// Why an append was refused.
#[derive(Debug, thiserror::Error)]
pub enum AppendRefusal {
    /// The workspace has no session with this id.
    #[error("no such session")]
    NoSession,
    /// The status or the attempt of the session does not allow the append.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The author may not write this event.
    #[error("event {index}: {refusal}")]
    Write {
        /// Position of the event in the request, from 0.
        index: usize,
        /// The rule that refuses the event.
        refusal: WriteRefusal,
    },
    /// An event with this id is recorded already and differs.
    #[error("event {index} has an id that is recorded with another body")]
    Conflict {
        /// Position of the event in the request, from 0.
        index: usize,
        /// Digest of the recorded body.
        recorded: Digest,
    },
    /// The session would have more than [`SESSION_EVENTS_MAX`] events.
    #[error("the session is full")]
    SessionFull,
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] Error),
}

/// The result of one request of a group.
pub(crate) type Settled = Result<AppendOutcome, AppendRefusal>;

/// The notices of a group of appends. They are sent once the group is committed.
#[derive(Default)]
pub(crate) struct GroupNotices(HashMap<(TenantId, SessionId), (Head, Vec<EventRecord>)>);

impl GroupNotices {
    fn add(&mut self, head: &Head, events: Vec<EventRecord>) {
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
        let notice = |(head, events): (Head, Vec<EventRecord>)| Notice {
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

/// Applies a group, assuming that no id repeats. A unique violation rolls the group back; the caller then
/// repeats it with [`apply_one_by_one`].
pub(crate) async fn apply(
    conn: &mut Conn<'_>,
    requests: &[&AppendRequest],
    notices: &mut GroupNotices,
) -> Result<Vec<Settled>, sqlx::Error> {
    let mut heads = session::lock_heads(conn, requests.iter().map(|r| (r.tenant_id, r.session_id))).await?;
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
    session::write_events(conn, &rows, &moved).await?;
    notices.take(&heads, rows);
    Ok(settled)
}

/// Applies requests one after another, each checked for events that are recorded already.
pub(crate) async fn apply_one_by_one(
    conn: &mut Conn<'_>,
    requests: &[&AppendRequest],
    notices: &mut GroupNotices,
) -> Result<Vec<Settled>, sqlx::Error> {
    let mut settled = Vec::with_capacity(requests.len());
    for request in requests {
        let key = (request.tenant_id, request.session_id);
        let mut heads = session::lock_heads(conn, std::iter::once(key)).await?;
        let Some(head) = heads.get_mut(&key) else {
            settled.push(Err(AppendRefusal::NoSession));
            continue;
        };
        settled.push(apply_one(conn, head, request, notices).await?);
    }
    Ok(settled)
}

async fn apply_one(
    conn: &mut Conn<'_>,
    head: &mut Head,
    request: &AppendRequest,
    notices: &mut GroupNotices,
) -> Result<Settled, sqlx::Error> {
    let known = event::recorded(conn, head, request).await?;
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
    session::write_events(conn, &new, &[&*head]).await?;
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
    let known = event::recorded(conn, head, request).await?;
    if let Some((index, recorded)) = conflict(request, &known) {
        return Ok(Some(Err(AppendRefusal::Conflict { index, recorded })));
    }
    let events: Option<Vec<_>> = known.iter().map(|k| k.as_ref().map(|k| (k.id, k.sequence))).collect();
    Ok(events.map(|events| Ok(AppendOutcome { events, head_sequence: head.head_sequence })))
}

/// The first event that is recorded already with other values: its position and the digest of the recorded
/// body.
fn conflict(request: &AppendRequest, known: &[Option<event::Recorded>]) -> Option<(usize, Digest)> {
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
fn check(head: &Head, request: &AppendRequest) -> Result<(), AppendRefusal> {
    let author = match request.attempt {
        Some(attempt) => {
            let state = Position {
                status: head.status,
                session_type: head.session_type,
                attempt: head.attempt,
                attempts_max: head.attempts_max,
            };
            #[cfg(feature = "planted-bugs")]
            let attempt = if crate::planted::is(crate::planted::Bug::NoFencing) { head.attempt } else { attempt };
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
fn place(head: &mut Head, request: &AppendRequest, event: &PreparedEvent) -> NewRow {
    let row = link(head, event, request.attempt, &request.actor, request.recorded_at);
    #[cfg(feature = "planted-bugs")]
    if crate::planted::is(crate::planted::Bug::SequenceGap) && head.head_sequence % 97 == 96 {
        head.head_sequence += 1;
    }
    row
}

/// Advances `head` by one event.
pub(crate) fn link(
    head: &mut Head,
    event: &PreparedEvent,
    attempt: Option<u32>,
    actor: &str,
    recorded_at: Timestamp,
) -> NewRow {
    let recorded_at = truncate(recorded_at);
    let at = event.at.map_or(recorded_at, truncate);
    head.head_sequence += 1;
    head.head_digest = chain::extend(
        head.head_digest,
        &Link {
            tenant_id: head.tenant_id.0,
            session_id: head.id.0,
            sequence: head.head_sequence,
            event_id: event.id.0,
            kind: event.kind.as_str(),
            role: event.role.as_str(),
            actor,
            attempt,
            thread_id: event.thread_id.as_deref(),
            external_event_id: event.external_event_id.as_deref(),
            at,
            recorded_at,
            body: event.body,
        },
    );
    head.updated_at = recorded_at;
    head.moved = true;
    NewRow {
        tenant_id: head.tenant_id,
        record: EventRecord {
            id: event.id,
            session_id: head.id,
            sequence: head.head_sequence,
            kind: event.kind.as_str().to_owned(),
            role: event.role,
            content: event.content.clone(),
            metadata: event.metadata.clone(),
            thread_id: event.thread_id.clone(),
            external_event_id: event.external_event_id.clone(),
            attempt,
            actor: actor.to_owned(),
            at,
            recorded_at,
            body: event.body,
            digest: head.head_digest,
        },
    }
}

fn outcome(head: &Head, rows: &[NewRow]) -> AppendOutcome {
    AppendOutcome {
        events: rows.iter().map(|row| (row.record.id, row.record.sequence)).collect(),
        head_sequence: head.head_sequence,
    }
}
