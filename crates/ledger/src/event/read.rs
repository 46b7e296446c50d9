//! Reading a session's log by sequence.

use crate::{Error, EventRecord, Ledger, Result, cursor::page_size, guard::require, session, visibility::sees};
use domain::{
    Scope,
    event::Kind,
    id::{SessionId, TenantId},
    limit::BATCH_EVENTS_MAX,
    role::Permission,
    session::Status,
};
use quick_cache::sync::Cache;
use std::collections::BTreeMap;

/// Which events.
#[derive(Debug, Clone, Default)]
pub struct Read {
    /// Those after this sequence, oldest first.
    pub after_sequence: Option<u64>,
    /// The last ones before this sequence; still answered oldest first.
    pub before_sequence: Option<u64>,
    /// Only these kinds; empty for every kind.
    pub kinds: Vec<String>,
    /// 1 to 1,000; 0 for the default.
    pub limit: u32,
}

/// A part of a log.
#[derive(Debug, Clone)]
pub struct Slice {
    /// Oldest first.
    pub events: Vec<EventRecord>,
    /// The session's newest sequence when it was read.
    pub head_sequence: u64,
    /// Whether more events of this filter exist in the direction of reading.
    pub has_more: bool,
    /// The session's status when it was read.
    pub status: Status,
}

/// Marks of the timeline bar that are read at most.
const TIMELINE_MARKS_MAX: u32 = 1_000;
/// Kinds that the timeline bar shows.
const TIMELINE_KINDS: [&str; 6] = [
    Kind::SESSION_STATUS_CHANGE,
    Kind::SESSION_ERROR,
    "agent.tool_call",
    "tool.invocation_started",
    "tool.invocation_failed",
    "human.marker",
];

/// How many events a page of this size holds.
///
/// # Errors
/// [`Error::Invalid`] above the largest page.
pub fn events_of_page(limit: u32) -> Result<u32> {
    page_size(limit)
}

/// A part of a session's log. Contiguous: the head is read first and nothing after it is answered.
pub async fn read(ledger: &Ledger, scope: &Scope, id: SessionId, read: Read) -> Result<Slice> {
    require(scope, Permission::Read)?;
    let limit = page_size(read.limit)?;
    if read.after_sequence.is_some() && read.before_sequence.is_some() {
        return Err(Error::invalid("beforeSequence", "not together with afterSequence"));
    }
    if read.kinds.len() > BATCH_EVENTS_MAX {
        return Err(Error::invalid("eventTypes", format!("at most {BATCH_EVENTS_MAX}")));
    }
    for kind in &read.kinds {
        Kind::parse(kind).map_err(|e| Error::invalid("eventTypes", e.to_string()))?;
    }
    let (tenant_id, reader) = (scope.tenant_id, *scope);
    let found = ledger
        .store()
        .read(scope.into(), move |conn| {
            Box::pin(async move {
                let Some(session) = store::session::find(conn, tenant_id, id).await? else { return Ok(None) };
                if !sees(conn, &reader, &session).await? {
                    return Ok(None);
                }
                let head = session.head_sequence;
                let page = match read.before_sequence {
                    Some(before) => {
                        let before = before.min(head + 1);
                        store::event::before(conn, tenant_id, id, before, &read.kinds, limit).await?
                    }
                    None => {
                        let after = read.after_sequence.unwrap_or_default().min(head);
                        store::event::after(conn, tenant_id, id, (after, head), &read.kinds, limit).await?
                    }
                };
                Ok(Some(Slice {
                    events: page.items,
                    head_sequence: head,
                    has_more: page.has_more,
                    status: session.status,
                }))
            })
        })
        .await?;
    found.ok_or(Error::NotFound("session"))
}

/// Sessions whose counts are remembered.
const COUNTED_MAX: usize = 1_024;

/// Kinds of one session that are remembered; agents may make up their own.
const COUNTED_KINDS_MAX: usize = 256;

/// Counts of a log up to a sequence. Nothing in a log changes, so only what came since has to be counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct KindCounts {
    by_kind: BTreeMap<String, u64>,
    newest: u64,
}

impl KindCounts {
    fn with(mut self, new: Vec<(String, u64)>, newest: u64) -> Self {
        for (kind, count) in new {
            *self.by_kind.entry(kind).or_default() += count;
        }
        self.newest = newest;
        self
    }
}

/// What has been counted, by session.
pub(crate) type CountedKinds = Cache<(TenantId, SessionId), KindCounts>;

pub(crate) fn counted_kinds() -> CountedKinds {
    Cache::new(COUNTED_MAX)
}

/// How many events of each kind a session has.
pub async fn kind_counts(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Vec<(String, u64)>> {
    session::get(ledger, scope, id).await?;
    let tenant_id = scope.tenant_id;
    let known = ledger.kind_counts().get(&(tenant_id, id)).unwrap_or_default();
    let after = known.newest;
    let read =
        ledger.store().read(scope.into(), move |conn| Box::pin(store::event::kind_counts(conn, tenant_id, id, after)));
    let (new, newest) = read.await?;
    let counts = known.with(new, newest);
    if counts.by_kind.len() <= COUNTED_KINDS_MAX {
        ledger.kind_counts().insert((tenant_id, id), counts.clone());
    }
    Ok(counts.by_kind.into_iter().collect())
}

/// The events that the timeline bar shows: status changes, tool calls, errors, markers; the first thousand.
pub async fn timeline(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Vec<EventRecord>> {
    let kinds = TIMELINE_KINDS.map(str::to_owned).to_vec();
    let slice = read(ledger, scope, id, Read { kinds, limit: TIMELINE_MARKS_MAX, ..Read::default() }).await?;
    Ok(slice.events)
}

/// The newest event of each session that tells more than a change of status; none for a session without one.
pub async fn newest(ledger: &Ledger, scope: &Scope, sessions: &[SessionId]) -> Result<Vec<EventRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, sessions) = (scope.tenant_id, sessions.to_vec());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move { store::event::newest(conn, tenant_id, &sessions).await })
    });
    Ok(read.await?)
}
