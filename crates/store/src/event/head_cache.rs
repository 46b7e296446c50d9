//! Appends to sessions whose heads are cached: one round trip on PostgreSQL.
//!
//! The lanes cache the heads of the sessions that they wrote to. With a cached head the lane assigns
//! sequences and computes digests before it contacts the database. A cached head may be outdated: the
//! function `shiftbook_append` writes to a session only if the session still has exactly that head, status
//! and attempt. If it has not, or if the cached head would refuse a request, the request is checked against
//! the row that is read under the lock ([`super::append::apply`]). So the cache alone never decides whether a
//! request is accepted or refused.

use super::{
    AppendOutcome, AppendRequest, Head, NewRow,
    append::{GroupNotices, check, place},
    bind_rows,
};
use crate::engine::{Access, is_lock_failure, is_unique_violation, spanned, statements};
use domain::{
    clock::to_micros,
    id::{SessionId, TenantId},
};
use quick_cache::unsync::Cache;
use sqlx::{PgConnection, Row as _};
use std::{
    collections::{BTreeMap, HashSet, btree_map::Entry},
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};
use uuid::Uuid;

/// Most heads in the cache. A head takes about 150 bytes.
const HEADS_MAX: usize = 8_192;

statements! {
    /// Returns the ids of the sessions that were written. Parameters: workspace and person; per session, in id
    /// order, its id, the expected values (status, attempt, sequence, digest) and the new values (sequence,
    /// digest, time); then the columns of the events.
    const APPEND_AT_HEADS_POSTGRES: &str = "SELECT shiftbook_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
         $18, $19, $20, $21, $22, $23, $24, $25, $26)";
}

/// Heads of sessions as the lanes left them. All lanes share one cache, because a session may change its
/// lane.
pub(crate) struct HeadCache(Mutex<Cache<(TenantId, SessionId), Head>>);

impl HeadCache {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Cache::new(HEADS_MAX)))
    }

    /// Stores the head that a committed transaction left.
    pub(crate) fn insert(&self, head: &Head) {
        self.locked().insert((head.tenant_id, head.id), Head { moved: false, ..head.clone() });
    }

    fn get(&self, key: (TenantId, SessionId)) -> Option<Head> {
        self.locked().get(&key).cloned()
    }

    fn remove(&self, key: (TenantId, SessionId)) {
        self.locked().remove(&key);
    }

    fn locked(&self) -> MutexGuard<'_, Cache<(TenantId, SessionId), Head>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session of a group: its cached head, and its head after the planned appends.
struct Step {
    before: Head,
    after: Head,
}

/// The requests of a group that have sequences and digests, on the assumption that the cached heads are
/// current.
pub(crate) struct PlannedAppends {
    steps: BTreeMap<SessionId, Step>,
    rows: Vec<NewRow>,
    /// For each request the range of its rows; `None` if the request has to be checked under the lock.
    ranges: Vec<Option<Range<usize>>>,
}

impl PlannedAppends {
    /// Plans the requests that the cached heads accept. All requests are of one workspace.
    pub(crate) fn new<'r>(known: &HeadCache, requests: impl Iterator<Item = &'r AppendRequest>) -> Self {
        let mut placed = Self { steps: BTreeMap::new(), rows: Vec::new(), ranges: Vec::new() };
        for request in requests {
            let range = placed.add(known, request);
            placed.ranges.push(range);
        }
        placed.steps.retain(|_, step| step.after.moved);
        placed
    }

    fn add(&mut self, known: &HeadCache, request: &AppendRequest) -> Option<Range<usize>> {
        let step = match self.steps.entry(request.session_id) {
            Entry::Occupied(step) => step.into_mut(),
            Entry::Vacant(free) => {
                let head = known.get((request.tenant_id, request.session_id))?;
                free.insert(Step { before: head.clone(), after: head })
            }
        };
        check(&step.after, request).ok()?;
        let from = self.rows.len();
        self.rows.extend(request.events.iter().map(|event| place(&mut step.after, request, event)));
        Some(from..self.rows.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the planned events in one statement, which is its own transaction. Sessions whose head is no
    /// longer the cached one are left unchanged. Returns the outcome of each request; `None` if nothing of the
    /// request was written.
    ///
    /// # Errors
    /// A unique violation when an event is recorded already; "lock not available" when another transaction
    /// holds one of the sessions. In both cases nothing of the group is written.
    pub(crate) async fn write(
        self,
        connection: &mut PgConnection,
        access: Access,
        known: &HeadCache,
        notices: &mut GroupNotices,
    ) -> Result<Vec<Option<AppendOutcome>>, sqlx::Error> {
        let outcome = self.execute(connection, access).await;
        for step in self.steps.values() {
            match &outcome {
                Ok(moved) if moved.contains(&step.after.id.0) => known.insert(&step.after),
                // Nothing was written, so the cached head is as valid as before.
                Err(error) if is_unique_violation(error) || is_lock_failure(error) => {}
                // The session's head is unknown now.
                _ => known.remove((step.after.tenant_id, step.after.id)),
            }
        }
        Ok(self.settle(&outcome?, notices))
    }

    async fn execute(&self, connection: &mut PgConnection, access: Access) -> Result<HashSet<Uuid>, sqlx::Error> {
        let Access::Tenant { tenant_id, user_id } = access else {
            return Err(sqlx::Error::InvalidArgument("appends are made for a workspace".into()));
        };
        macro_rules! column {
            ($value:expr) => {
                self.steps.values().map($value).collect::<Vec<_>>()
            };
        }
        let query = sqlx::query(APPEND_AT_HEADS_POSTGRES)
            .bind(tenant_id.0)
            .bind(user_id.map(|id| id.0))
            .bind(column!(|s| s.before.id.0))
            .bind(column!(|s| s.before.status.as_str()))
            .bind(column!(|s| i64::from(s.before.attempt)))
            .bind(column!(|s| s.before.head_sequence.cast_signed()))
            .bind(column!(|s| &s.before.head_digest.0[..]))
            .bind(column!(|s| s.after.head_sequence.cast_signed()))
            .bind(column!(|s| &s.after.head_digest.0[..]))
            .bind(column!(|s| to_micros(s.after.updated_at)));
        let query = bind_rows(query, &self.rows);
        let row = spanned!(APPEND_AT_HEADS_POSTGRES, fetch_one, query.fetch_one(connection).await)?;
        Ok(row.try_get::<Vec<Uuid>, _>(0)?.into_iter().collect())
    }

    /// Returns the outcomes and adds the notices for watchers.
    fn settle(self, moved: &HashSet<Uuid>, notices: &mut GroupNotices) -> Vec<Option<AppendOutcome>> {
        let mut rows = self.rows.into_iter();
        let mut outcomes = Vec::with_capacity(self.ranges.len());
        for range in self.ranges {
            let Some(range) = range else {
                outcomes.push(None);
                continue;
            };
            // Ranges follow one another without a gap.
            let records: Vec<_> = rows.by_ref().take(range.len()).map(|row| row.record).collect();
            let step = records.first().and_then(|first| self.steps.get(&first.session_id));
            outcomes.push(step.filter(|step| moved.contains(&step.after.id.0)).map(|step| {
                let events = records.iter().map(|record| (record.id, record.sequence)).collect();
                let head_sequence = records.last().map_or(0, |record| record.sequence);
                notices.add(&step.after, records);
                AppendOutcome { events, head_sequence }
            }));
        }
        outcomes
    }
}
