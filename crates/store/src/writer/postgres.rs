//! A PostgreSQL lane: merges appends of one workspace and person into one transaction, and claims on the same terms.
//!
//! The lanes know where the logs that they last wrote to stand, and most groups are one statement ([`Placed`]). Whatever
//! that leaves is done in a transaction that reads and locks first, and that the first lane leaves to the second: so a
//! session that somebody holds keeps it for a blink only.

mod claim;
mod expected;

use super::{ALONE_MAX, Counters, Job, next_group, queue_full};
use crate::{
    append::{
        self, AppendRefusal, AppendRequest, GroupNotices, Settled,
        known::{KnownHeads, Placed},
    },
    conn::{Access, Conn},
    error::{Error, is_lock_timeout, is_unique_violation},
    notify::Notifier,
    open::{POSTGRES_TRUSTED, publish},
    transaction::{Change, in_time, transaction_on},
};
use expected::Expected;
use sqlx::{PgPool, Postgres, pool::PoolConnection};
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
};
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    time::{timeout, timeout_at},
};

/// A request and who waits for its answer.
type Waiting = (AppendRequest, oneshot::Sender<Settled>);

pub(super) struct PostgresLane {
    pool: PgPool,
    notices: broadcast::Sender<Change>,
    notifier: Notifier,
    counters: Arc<Counters>,
    heads: Arc<KnownHeads>,
    /// The first lane: who takes what it cannot write at once.
    second: Option<mpsc::Sender<Job>>,
    expected: Expected,
    /// Kept while groups follow one another: giving a connection back costs a round trip.
    connection: Option<PoolConnection<Postgres>>,
}

impl PostgresLane {
    pub(super) fn new(
        pool: PgPool,
        (notices, notifier): (broadcast::Sender<Change>, Notifier),
        counters: Arc<Counters>,
        heads: Arc<KnownHeads>,
        second: Option<mpsc::Sender<Job>>,
    ) -> Self {
        Self { pool, notices, notifier, counters, heads, second, expected: Expected::default(), connection: None }
    }

    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        loop {
            let next = next_group(&mut jobs, &self.counters);
            let (mut group, mut stop) = match self.connection {
                None => next.await,
                // Nothing is lost when the time is up: a group is taken at once or not at all.
                Some(_) => match timeout(POSTGRES_TRUSTED, next).await {
                    Ok(next) => next,
                    Err(_) => {
                        self.connection = None;
                        continue;
                    }
                },
            };
            if self.second.is_some() && !stop {
                stop = self.fill(&mut group, &mut jobs).await;
            }
            let items = group.len();
            self.commit(group).await;
            if self.second.is_some() {
                self.look_around(items + jobs.len());
            }
            if stop {
                break;
            }
        }
    }

    /// Waits for those who are expected; whether the lane stops.
    async fn fill(&mut self, group: &mut Vec<Job>, jobs: &mut mpsc::Receiver<Job>) -> bool {
        let Some(until) = self.expected.until(group.len()) else { return false };
        while !self.expected.is_met(group.len()) {
            let Ok((more, stop)) = timeout_at(until, next_group(jobs, &self.counters)).await else {
                self.expected.missed();
                return false;
            };
            group.extend(more);
            if stop {
                return true;
            }
        }
        self.expected.came();
        false
    }

    /// So many were there at once. When they are many, the second lane takes its share, and nobody is waited for: what
    /// arrives while a group is written makes the next one large enough.
    fn look_around(&mut self, items: usize) {
        let others = self.counters.queued_items.load(Ordering::Relaxed);
        let are_many = items.max(usize::try_from(others).unwrap_or(usize::MAX)) > ALONE_MAX;
        self.counters.spread.store(are_many, Ordering::Relaxed);
        self.expected.saw(if are_many { 0 } else { items });
    }

    async fn commit(&mut self, group: Vec<Job>) {
        // Row-level security knows one workspace and one person per transaction.
        let mut by_access: HashMap<Access, Vec<Waiting>> = HashMap::new();
        let mut claims = Vec::new();
        for job in group {
            match job {
                Job::Append { request, reply } => {
                    let access = Access::Tenant { tenant_id: request.tenant_id, user_id: request.user_id };
                    by_access.entry(access).or_default().push((request, reply));
                }
                Job::Claim(claim) => claims.push(claim),
                // Every other write is a transaction of its own here.
                Job::Command(_) | Job::Stop => {}
            }
        }
        self.claim(claims).await;
        for (access, appends) in by_access {
            let left = self.commit_at_known_heads(access, appends).await;
            match &self.second {
                _ if left.is_empty() => {}
                Some(second) => self.leave_to(second, left),
                None => self.commit_under_lock(access, left).await,
            }
        }
    }

    /// Answers what can be written without asking first; the requests that are left.
    async fn commit_at_known_heads(&mut self, access: Access, appends: Vec<Waiting>) -> Vec<Waiting> {
        let placed = Placed::new(&self.heads, appends.iter().map(|(request, _)| request));
        if placed.is_empty() {
            return appends;
        }
        let mut notices = GroupNotices::default();
        let written = match connection(&self.pool, &mut self.connection).await {
            Ok(connection) => in_time(placed.write(connection, access, &self.heads, &mut notices)).await,
            Err(error) => Err(error),
        };
        match written {
            Ok(Ok(outcomes)) => {
                let (done, left): (Vec<_>, Vec<_>) =
                    appends.into_iter().zip(outcomes).partition(|(_, outcome)| outcome.is_some());
                if !done.is_empty() {
                    self.counters.groups_at_known_heads.fetch_add(1, Ordering::Relaxed);
                    let done = done.into_iter().filter_map(|((_, reply), outcome)| Some((reply, Ok(outcome?))));
                    self.answer(done.collect(), notices);
                }
                left.into_iter().map(|(waiting, _)| waiting).collect()
            }
            Ok(Err(error)) if is_unique_violation(&error) || is_lock_timeout(&error) => appends,
            Ok(Err(error)) => {
                self.refuse_all(appends, error.into());
                Vec::new()
            }
            Err(error) => {
                self.refuse_all(appends, error);
                Vec::new()
            }
        }
    }

    fn leave_to(&self, second: &mpsc::Sender<Job>, appends: Vec<Waiting>) {
        for (request, reply) in appends {
            let bytes = request.bytes();
            self.counters.came(bytes);
            if let Err(refused) = second.try_send(Job::Append { request, reply }) {
                self.counters.left(bytes);
                if let Job::Append { reply, .. } = refused.into_inner() {
                    let _ = reply.send(Err(queue_full().into()));
                }
            }
        }
    }

    async fn commit_under_lock(&mut self, access: Access, appends: Vec<Waiting>) {
        let requests: Vec<&AppendRequest> = appends.iter().map(|(request, _)| request).collect();
        let mut outcome = self.attempt(access, &requests, false).await;
        if matches!(&outcome, Err(Attempt::Repeated)) {
            outcome = self.attempt(access, &requests, true).await;
        }
        match outcome {
            Ok((settled, notices)) => {
                for head in notices.heads() {
                    self.heads.learn(head);
                }
                self.answer(appends.into_iter().map(|(_, reply)| reply).zip(settled).collect(), notices);
            }
            Err(Attempt::Repeated) => self.refuse_all(appends, Error::Unavailable("ids repeated".into())),
            Err(Attempt::Failed(error)) => self.refuse_all(appends, error),
        }
    }

    async fn attempt(
        &mut self,
        access: Access,
        requests: &[&AppendRequest],
        careful: bool,
    ) -> std::result::Result<(Vec<Settled>, GroupNotices), Attempt> {
        let connection = connection(&self.pool, &mut self.connection).await?;
        let work = transaction_on(connection, access, false, async |connection| {
            let mut notices = GroupNotices::default();
            let mut conn = Conn::Postgres(connection);
            let settled = if careful {
                append::apply_carefully(&mut conn, requests, &mut notices).await
            } else {
                append::apply(&mut conn, requests, &mut notices).await
            };
            match settled {
                Ok(settled) => Ok((settled, notices)),
                Err(error) if !careful && is_unique_violation(&error) => Err(Attempt::Repeated),
                Err(error) => Err(Attempt::Failed(error.into())),
            }
        });
        in_time(work).await?
    }

    /// Tells watchers and answers, after COMMIT.
    fn answer(&self, settled: Vec<(oneshot::Sender<Settled>, Settled)>, notices: GroupNotices) {
        self.counters.groups.fetch_add(1, Ordering::Relaxed);
        self.counters.items.fetch_add(settled.len() as u64, Ordering::Relaxed);
        publish(&self.notices, Some(&self.notifier), notices.into_notices());
        for (reply, settled) in settled {
            if let Ok(done) = &settled {
                self.counters.events.fetch_add(done.events.len() as u64, Ordering::Relaxed);
            }
            // Nobody listens when the client went away; the write stands all the same.
            let _ = reply.send(settled);
        }
    }

    /// Whatever went wrong may be the connection's fault.
    fn discard_connection(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            connection.close_on_drop();
        }
    }

    fn refuse_all(&mut self, appends: Vec<Waiting>, error: Error) {
        self.discard_connection();
        let text = error.to_string();
        tracing::error!(error = text, items = appends.len(), "a group was rolled back");
        for (_, reply) in appends {
            let refusal: AppendRefusal = Error::Unavailable(text.clone()).into();
            let _ = reply.send(Err(refusal));
        }
    }
}

/// The connection that is kept, or one of the pool.
async fn connection<'c>(
    pool: &PgPool,
    kept: &'c mut Option<PoolConnection<Postgres>>,
) -> Result<&'c mut sqlx::PgConnection, Error> {
    if kept.is_none() {
        *kept = Some(pool.acquire().await?);
    }
    kept.as_deref_mut().ok_or_else(|| Error::Unavailable("no connection".into()))
}

/// Why a group could not be committed.
enum Attempt {
    /// An id is recorded already: check each request.
    Repeated,
    /// Anything else.
    Failed(Error),
}

impl From<Error> for Attempt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
