//! A PostgreSQL lane: merges appends, completions or new sessions of one workspace and person into one transaction, and
//! claims with the same terms into one statement.
//!
//! The lane caches the heads that it wrote last, and most groups need one statement ([`PlannedAppends`]).
//! The remaining requests run in a transaction that reads and locks first ([`locked`]). A session that
//! another transaction holds would block the lane, so its appends are deferred ([`deferred`]).

mod claim;
mod completion;
mod creation;
mod deferred;
mod group_wait;
mod locked;

use super::job::{ALONE_MAX, Append, Counters, Group, Job};
use crate::{
    engine::{Access, Error, LaneSpan, POSTGRES_TRUSTED, is_lock_failure, with_timeout},
    event::{
        AppendRefusal, AppendRequest, Change, GroupNotices, HeadCache, Notifier, PlannedAppends, Settled, publish,
    },
};
use deferred::DeferredAppends;
use group_wait::GroupWait;
use locked::CommitMode;
use sqlx::{PgPool, Postgres, pool::PoolConnection};
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    time::{Instant, timeout_at},
};
use tracing::{Instrument as _, Span};

/// How long an append waits for a session that another transaction holds: 2 s, like any other write.
const LOCKED_SESSION_WAIT_MAX: Duration = Duration::from_secs(2);

/// A request, the channel for its answer and the span that ends with it.
struct Waiting {
    request: AppendRequest,
    reply: oneshot::Sender<Settled>,
    span: LaneSpan,
    /// When the request is refused if its session is still held.
    until: Instant,
}

impl Waiting {
    /// The access for the transaction. Row-level security allows one workspace and one person per transaction.
    fn access(&self) -> Access {
        Access::Tenant { tenant_id: self.request.tenant_id, user_id: self.request.user_id }
    }
}

pub(super) struct PostgresLane {
    pool: PgPool,
    notices: broadcast::Sender<Change>,
    notifier: Notifier,
    counters: Arc<Counters>,
    heads: Arc<HeadCache>,
    /// Whether this is the first lane, which takes all appends under low load.
    is_first: bool,
    group_wait: GroupWait,
    deferred: DeferredAppends,
    /// Kept while groups follow one another, because returning a connection to the pool costs a round trip.
    connection: Option<PoolConnection<Postgres>>,
}

impl PostgresLane {
    pub(super) fn new(
        pool: PgPool,
        (notices, notifier): (broadcast::Sender<Change>, Notifier),
        counters: Arc<Counters>,
        heads: Arc<HeadCache>,
        is_first: bool,
    ) -> Self {
        let (group_wait, deferred) = (GroupWait::default(), DeferredAppends::default());
        Self { pool, notices, notifier, counters, heads, is_first, group_wait, deferred, connection: None }
    }

    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        loop {
            let mut group = Group::default();
            let Some(mut stop) = self.next_group(&mut group, &mut jobs).await else { continue };
            if self.is_first && !stop {
                stop = self.wait_for_expected(&mut group, &mut jobs).await;
            }
            let items = group.jobs.len();
            let transactions = self.commit(group.begin()).await;
            if self.is_first {
                self.observe_load(items + jobs.len(), transactions);
            }
            if stop || self.deferred.is_due() {
                self.retry_deferred(stop).await;
            }
            if stop {
                break;
            }
        }
    }

    /// Fills the next group and returns whether the lane stops; `None` if deferred appends or an idle
    /// connection had to be handled first.
    async fn next_group(&mut self, group: &mut Group, jobs: &mut mpsc::Receiver<Job>) -> Option<bool> {
        let idle = self.connection.is_some().then(|| Instant::now() + POSTGRES_TRUSTED);
        let next = group.fill(jobs, &self.counters);
        let Some(until) = self.deferred.next_retry().or(idle) else { return Some(next.await) };
        if let Ok(stop) = timeout_at(until, next).await {
            return Some(stop);
        }
        if self.deferred.is_due() {
            self.retry_deferred(false).await;
        } else {
            self.connection = None;
        }
        None
    }

    /// Waits for the appends that are expected soon. Returns whether the lane stops.
    async fn wait_for_expected(&mut self, group: &mut Group, jobs: &mut mpsc::Receiver<Job>) -> bool {
        let Some(until) = self.group_wait.deadline(group.jobs.len()) else { return false };
        while !self.group_wait.is_complete(group.jobs.len()) && !group.is_full() {
            match timeout_at(until, group.fill(jobs, &self.counters)).await {
                Ok(true) => return true,
                Ok(false) => {}
                Err(_) => {
                    self.group_wait.record_timeout();
                    return false;
                }
            }
        }
        self.group_wait.record_complete();
        false
    }

    /// Records how many appends were there at once and how many transactions they took. Under high load the
    /// second lane takes its share, and the lane waits for no one: the appends that arrive during a commit make
    /// the next group large enough. The lane also does not wait when the appends cannot share a transaction.
    fn observe_load(&mut self, items: usize, transactions: usize) {
        let in_all = if self.counters.spread.load(Ordering::Relaxed) { 2 * items } else { items };
        let is_shared = in_all > ALONE_MAX || transactions > 1;
        self.counters.spread.store(is_shared, Ordering::Relaxed);
        self.group_wait.record_size(if is_shared { 0 } else { items });
    }

    /// Commits a group. Returns the least number of transactions that its appends took.
    async fn commit(&mut self, group: Vec<Job>) -> usize {
        let until = Instant::now() + LOCKED_SESSION_WAIT_MAX;
        let mut by_access: HashMap<Access, Vec<Waiting>> = HashMap::new();
        let (mut claims, mut completions, mut creations, mut held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for job in group {
            match job {
                Job::Append(Append { request, reply, span }) => {
                    let waiting = Waiting { request, reply, span, until };
                    if self.deferred.has(&waiting.request) {
                        held.push(waiting);
                    } else {
                        by_access.entry(waiting.access()).or_default().push(waiting);
                    }
                }
                Job::Claim(claim) => claims.push(claim),
                Job::Completion(completion) => completions.push(completion),
                Job::Creation(creation) => creations.push(*creation),
                // On PostgreSQL every other write has its own transaction.
                Job::Command(..) | Job::EmptyWal(_) | Job::LookForOthers | Job::Stop => {}
            }
        }
        self.deferred.put(held, &self.counters);
        self.claim(claims).await;
        self.complete(completions).await;
        self.create(creations).await;
        let transactions = by_access.len();
        for (access, appends) in by_access {
            let (left, mode) = self.commit_at_known_heads(access, appends).await;
            if !left.is_empty() {
                let held = self.commit_under_lock(access, left, mode).await;
                self.deferred.put(held, &self.counters);
            }
        }
        transactions
    }

    /// Writes and answers the appends to sessions with cached heads. Returns the remaining requests and the
    /// mode for their next try.
    async fn commit_at_known_heads(&mut self, access: Access, appends: Vec<Waiting>) -> (Vec<Waiting>, CommitMode) {
        let mode = CommitMode::default();
        let placed = PlannedAppends::new(&self.heads, appends.iter().map(|waiting| &waiting.request));
        if placed.is_empty() {
            return (appends, mode);
        }
        let mut notices = GroupNotices::default();
        let written = match connection(&self.pool, &mut self.connection).await {
            Ok(connection) => {
                let write = placed.write(connection, access, &self.heads, &mut notices);
                with_timeout(write.instrument(span_of_first(&appends))).await
            }
            Err(error) => Err(error),
        };
        match written {
            Ok(Ok(outcomes)) => {
                let (done, left): (Vec<_>, Vec<_>) =
                    appends.into_iter().zip(outcomes).partition(|(_, outcome)| outcome.is_some());
                if !done.is_empty() {
                    self.counters.groups_at_known_heads.fetch_add(1, Ordering::Relaxed);
                    let done = done.into_iter().filter_map(|(waiting, outcome)| Some((waiting, Ok(outcome?))));
                    self.answer(done.collect(), notices);
                }
                (left.into_iter().map(|(waiting, _)| waiting).collect(), mode)
            }
            // The statement has already waited for the lock, so the next try skips locked sessions.
            Ok(Err(error)) if is_lock_failure(&error) => (appends, CommitMode { skip_locked: true, ..mode }),
            Ok(Err(error)) => match Error::from(error) {
                error if error.is_of_item() => (appends, CommitMode { one_by_one: true, ..mode }),
                error => {
                    self.refuse_all(appends, error);
                    (Vec::new(), mode)
                }
            },
            Err(error) => {
                self.refuse_all(appends, error);
                (Vec::new(), mode)
            }
        }
    }

    /// Sends the notices and the answers. Called after COMMIT.
    fn answer(&self, settled: Vec<(Waiting, Settled)>, notices: GroupNotices) {
        self.counters.groups.fetch_add(1, Ordering::Relaxed);
        self.counters.items.fetch_add(settled.len() as u64, Ordering::Relaxed);
        publish(&self.notices, Some(&self.notifier), notices.into_notices());
        for (Waiting { reply, span, .. }, settled) in settled {
            if let Ok(done) = &settled {
                self.counters.events.fetch_add(done.events.len() as u64, Ordering::Relaxed);
            }
            // The span ends before that of the use case, which goes on with the answer.
            drop(span);
            // Sending fails when the client went away. The write is kept.
            let _ = reply.send(settled);
        }
    }

    /// Closes the kept connection, because the failure may have been its fault.
    fn discard_connection(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            connection.close_on_drop();
        }
    }

    fn refuse_all(&mut self, appends: Vec<Waiting>, error: Error) {
        self.discard_connection();
        tracing::error!(%error, items = appends.len(), "a group was rolled back");
        for Waiting { reply, .. } in appends {
            let refusal: AppendRefusal = error.clone().into();
            let _ = reply.send(Err(refusal));
        }
    }
}

/// The span below which the appends of a group show what they share.
fn span_of_first(appends: &[Waiting]) -> Span {
    appends.first().map_or_else(Span::none, |first| first.span.span())
}

/// The kept connection, or a new one from the pool.
async fn connection<'c>(
    pool: &PgPool,
    kept: &'c mut Option<PoolConnection<Postgres>>,
) -> Result<&'c mut sqlx::PgConnection, Error> {
    if kept.is_none() {
        *kept = Some(pool.acquire().await?);
    }
    kept.as_deref_mut().ok_or_else(|| Error::Unavailable("no connection".into()))
}
