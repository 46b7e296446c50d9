//! Reading a session's log by sequence.

use crate::{Error, Ledger, Result, cursor::page_size, guard::require, session};
use domain::{
    Scope,
    event::{Event, Kind, Known},
    id::{SessionId, TenantId},
    limit::BATCH_EVENTS_MAX,
    role::Permission,
    session::{Session, Status},
};
use quick_cache::sync::Cache;
use std::collections::BTreeMap;
use store::Conn;

/// Which events of a log to read.
#[derive(Debug, Clone, Default)]
pub struct Read {
    /// Events after this sequence, oldest first.
    pub after_sequence: Option<u64>,
    /// The last events before this sequence, also returned oldest first. Not together with `after_sequence`.
    pub before_sequence: Option<u64>,
    /// Only events of these kinds. Empty for all kinds.
    pub kinds: Vec<String>,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
}

/// A contiguous part of a log.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// The last sequence of the session at the time of the read.
    pub head_sequence: u64,
    /// Whether there are more matching events in the direction of reading.
    pub has_more: bool,
    /// The session's status at the time of the read.
    pub status: Status,
}

/// Largest number of events on the timeline bar.
const TIMELINE_MARKS_MAX: u32 = 1_000;
/// Kinds of events on the timeline bar.
const TIMELINE_KINDS: [&str; 6] = [
    Known::SessionStatusChange.as_str(),
    Known::SessionError.as_str(),
    Known::AgentToolCall.as_str(),
    Known::ToolInvocationStarted.as_str(),
    Known::ToolInvocationFailed.as_str(),
    Known::HumanMarker.as_str(),
];

/// Returns the number of events on a page of this size; 0 selects the default.
///
/// # Errors
/// [`Error::Invalid`] if `limit` is above the largest page size.
pub fn events_of_page(limit: u32) -> Result<u32> {
    page_size(limit)
}

impl Read {
    /// Checks the query and returns its page size.
    fn check(&self) -> Result<u32> {
        let limit = page_size(self.limit)?;
        if self.after_sequence.is_some() && self.before_sequence.is_some() {
            return Err(Error::invalid("beforeSequence", "not together with afterSequence"));
        }
        if self.kinds.len() > BATCH_EVENTS_MAX {
            return Err(Error::invalid("eventTypes", format!("at most {BATCH_EVENTS_MAX}")));
        }
        for kind in &self.kinds {
            Kind::parse(kind).map_err(|e| Error::invalid("eventTypes", e.to_string()))?;
        }
        Ok(limit)
    }
}

/// Reads a part of a session's log. The part is contiguous: the head is read first, and later events are left
/// out.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Invalid`] for a limit above
/// 1,000, for both sequences at once, or for a wrong kind or too many of them.
pub async fn read(ledger: &Ledger, scope: &Scope, id: SessionId, read: Read) -> Result<Slice> {
    require(scope, Permission::Read)?;
    read.check()?;
    let reader = *scope;
    let found = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &reader, id).await?;
        read_on(conn, &session, &read).await
    });
    found.await
}

/// [`read`] on an open connection. The caller has checked that the session is visible. Reads up to the head in
/// `session`.
pub(crate) async fn read_on(conn: &mut Conn<'_>, session: &Session, read: &Read) -> Result<Slice> {
    let limit = read.check()?;
    let (tenant_id, id, head) = (session.tenant_id, session.id, session.head_sequence);
    let page = match read.before_sequence {
        Some(before) => store::event::before(conn, tenant_id, id, before.min(head + 1), &read.kinds, limit).await?,
        None => {
            let after = read.after_sequence.unwrap_or_default().min(head);
            store::event::after(conn, tenant_id, id, (after, head), &read.kinds, limit).await?
        }
    };
    Ok(Slice { events: page.items, head_sequence: head, has_more: page.has_more, status: session.status() })
}

/// Number of sessions whose counts are cached.
const COUNTED_MAX: usize = 1_024;

/// Largest number of kinds for which a session's counts are cached. Agents may invent kinds.
const COUNTED_KINDS_MAX: usize = 256;

/// Counts of a log by kind, up to a sequence. A log is append-only, so only newer events need to be counted
/// later.
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

    pub(crate) fn to_vec(&self) -> Vec<(String, u64)> {
        self.by_kind.iter().map(|(kind, count)| (kind.clone(), *count)).collect()
    }
}

/// Cached counts by session.
pub(crate) type CountedKinds = Cache<(TenantId, SessionId), KindCounts>;

pub(crate) fn counted_kinds() -> CountedKinds {
    Cache::new(COUNTED_MAX)
}

/// Returns the cached counts of a session, or empty counts.
pub(crate) fn counted(ledger: &Ledger, scope: &Scope, id: SessionId) -> KindCounts {
    ledger.kind_counts().get(&(scope.tenant_id, id)).unwrap_or_default()
}

/// Caches the counts of a session, unless it has too many kinds.
pub(crate) fn remember(ledger: &Ledger, scope: &Scope, id: SessionId, counts: KindCounts) {
    if counts.by_kind.len() <= COUNTED_KINDS_MAX {
        ledger.kind_counts().insert((scope.tenant_id, id), counts);
    }
}

/// Returns the number of events of each kind in a session.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it.
pub async fn kind_counts(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Vec<(String, u64)>> {
    require(scope, Permission::Read)?;
    let (reader, known) = (*scope, counted(ledger, scope, id));
    let read = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &reader, id).await?;
        kind_counts_on(conn, &session, known).await
    });
    let counts = read.await?;
    let answer = counts.to_vec();
    remember(ledger, scope, id, counts);
    Ok(answer)
}

/// [`kind_counts`] on an open connection. The caller has checked that the session is visible. Adds later events
/// to `known`.
pub(crate) async fn kind_counts_on(conn: &mut Conn<'_>, session: &Session, known: KindCounts) -> Result<KindCounts> {
    let (new, newest) = store::event::kind_counts(conn, session.tenant_id, session.id, known.newest).await?;
    Ok(known.with(new, newest))
}

/// Returns the first 1,000 events that the timeline bar shows: status changes, tool calls, errors and markers.
pub(crate) async fn timeline(conn: &mut Conn<'_>, session: &Session) -> Result<Vec<Event>> {
    let kinds = TIMELINE_KINDS.map(str::to_owned).to_vec();
    let read = Read { kinds, limit: TIMELINE_MARKS_MAX, ..Read::default() };
    Ok(read_on(conn, session, &read).await?.events)
}
