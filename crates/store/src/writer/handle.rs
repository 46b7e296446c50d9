//! The handle through which writes reach the lanes.

use super::{
    job::{
        Append, Counters, Job, QUEUE_ITEMS_MAX, SessionReply, Stats, WaitingClaim, WaitingCompletion, WaitingCreation,
        command, queue_full,
    },
    postgres::PostgresLane,
    sqlite::SqliteLane,
};
use crate::{
    engine::{Access, Error, LaneSpan, Result, SqliteConnection, postgres_full},
    event::{AppendRequest, Change, HeadCache, Notifier, Settled},
    session::{DecideCompletion, FirstClaim, PlainCreation},
    transaction::BoxedBody,
};
use domain::{id::SessionId, session::Session};
use sqlx::PgPool;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    task::JoinHandle,
};

/// Most bytes that wait in all lanes together.
const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Lanes that merge appends on PostgreSQL.
const APPEND_LANES: usize = 2;
/// Index of the lane that merges claims. There is only one, in which workspaces and agents take turns. With
/// two lanes a busy workspace could occupy one almost alone and take more than its share.
const CLAIM_LANE: usize = APPEND_LANES;
/// Index of the lane that merges completions. They share none with claims, so that the two overlap.
const COMPLETION_LANE: usize = CLAIM_LANE + 1;
/// Index of the lane that merges new sessions.
const CREATION_LANE: usize = COMPLETION_LANE + 1;
/// All lanes on PostgreSQL. Each holds at most one connection of the pool.
const LANES: usize = CREATION_LANE + 1;

/// Interval at which a server on SQLite looks for commits of other processes.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Handle of the writer tasks.
pub(crate) struct Writer {
    lanes: Vec<mpsc::Sender<Job>>,
    counters: Arc<Counters>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    full: Arc<AtomicBool>,
}

impl Writer {
    pub(crate) fn sqlite(connection: SqliteConnection, notices: broadcast::Sender<Change>) -> Self {
        let counters = Arc::new(Counters::default());
        let (sender, jobs) = mpsc::channel(QUEUE_ITEMS_MAX);
        let full = connection.full();
        let lane = SqliteLane::new(connection, notices, counters.clone());
        // The writer has its own thread, because it blocks on the disk.
        let task = tokio::task::spawn_blocking(move || futures_executor::block_on(lane.run(jobs)));
        Self { lanes: vec![sender], counters, tasks: Mutex::new(vec![task]), full }
    }

    /// Looks once a second for commits of other processes, and publishes [`Change::AccessChanged`] after any. Ends with
    /// the writer. SQLite only.
    pub(crate) fn look_for_others(&self) {
        let lanes: Vec<_> = self.lanes.iter().map(mpsc::Sender::downgrade).collect();
        let counters = self.counters.clone();
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(LOOK_INTERVAL);
            loop {
                ticks.tick().await;
                // The lanes are held only for a moment, so that the writer ends when its handle is dropped.
                let Some(lane) = lanes.first().and_then(mpsc::WeakSender::upgrade) else { return };
                if counters.closed.load(Ordering::Acquire) {
                    return;
                }
                counters.enqueued(0);
                if lane.try_send(Job::LookForOthers).is_err() {
                    counters.dequeued(0);
                }
            }
        });
    }

    /// A writer that refuses all writes.
    pub(crate) fn none() -> Self {
        let counters = Arc::new(Counters::default());
        counters.closed.store(true, Ordering::Release);
        Self { lanes: Vec::new(), counters, tasks: Mutex::default(), full: Arc::default() }
    }

    pub(crate) fn postgres(pool: PgPool, notices: broadcast::Sender<Change>, notifier: Notifier) -> Self {
        let counters = Arc::new(Counters::default());
        let heads = Arc::new(HeadCache::new());
        let (lanes, queues): (Vec<_>, Vec<_>) = (0..LANES).map(|_| mpsc::channel(QUEUE_ITEMS_MAX)).unzip();
        let mut tasks = Vec::new();
        for (place, jobs) in queues.into_iter().enumerate() {
            let sinks = (notices.clone(), notifier.clone());
            let lane = PostgresLane::new(pool.clone(), sinks, counters.clone(), heads.clone(), place == 0);
            tasks.push(tokio::spawn(lane.run(jobs)));
        }
        Self { lanes, counters, tasks: Mutex::new(tasks), full: postgres_full() }
    }

    /// Whether a write failed because the disk was full, and no write is known to have succeeded since.
    pub(crate) fn full(&self) -> &AtomicBool {
        &self.full
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            queue_items: self.counters.queued_items.load(Ordering::Relaxed),
            groups_committed: self.counters.groups.load(Ordering::Relaxed),
            groups_at_known_heads: self.counters.groups_at_known_heads.load(Ordering::Relaxed),
            items_committed: self.counters.items.load(Ordering::Relaxed),
            events_appended: self.counters.events.load(Ordering::Relaxed),
            ..Stats::default()
        }
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        if self.counters.closed.load(Ordering::Acquire) {
            return Err(Error::Unavailable("the server is stopping".into()));
        }
        Ok(())
    }

    /// Runs a write as a job of the one SQLite writer.
    pub(crate) async fn run<T, E>(&self, body: BoxedBody<T, E>) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (command, answer) = command(body);
        self.enqueue(0, 0, Job::Command(command, LaneSpan::queued()))?;
        answer.await.unwrap_or_else(|_| Err(self.unanswered().into()))
    }

    pub(crate) async fn append(&self, request: AppendRequest) -> Settled {
        let (reply, answer) = oneshot::channel();
        let lane = if self.counters.spread.load(Ordering::Relaxed) { lane_of(request.session_id) } else { 0 };
        let bytes = request.bytes();
        self.enqueue(lane, bytes, Job::Append(Append { request, reply, span: LaneSpan::queued() }))?;
        answer.await.unwrap_or_else(|_| Err(self.unanswered().into()))
    }

    /// Claims sessions on PostgreSQL. Waiting claims with the same terms share the statement.
    pub(crate) async fn claim(&self, access: Access, claim: FirstClaim) -> Result<Option<Vec<Session>>> {
        let (reply, answer) = oneshot::channel();
        let waiting = WaitingClaim { access, claim, reply, span: LaneSpan::queued() };
        self.enqueue(CLAIM_LANE, 0, Job::Claim(waiting))?;
        answer.await.unwrap_or_else(|_| Err(self.unanswered()))
    }

    /// Completes a session on PostgreSQL, together with the others that wait. `bytes` is the size of its texts.
    pub(crate) async fn complete(
        &self,
        access: Access,
        session_id: SessionId,
        (decide, bytes): (DecideCompletion, usize),
    ) -> Result<Option<Session>> {
        let (reply, answer) = SessionReply::queued();
        let waiting = WaitingCompletion { access, session_id, decide, bytes, reply };
        self.enqueue(COMPLETION_LANE, bytes, Job::Completion(waiting))?;
        answer.await.unwrap_or_else(|_| Err(self.unanswered()))
    }

    /// Inserts a session on PostgreSQL, together with the others that wait.
    pub(crate) async fn create(&self, access: Access, creation: PlainCreation) -> Result<Option<Session>> {
        let (reply, answer) = SessionReply::queued();
        let waiting = Box::new(WaitingCreation { access, creation, reply });
        let bytes = waiting.bytes();
        self.enqueue(CREATION_LANE, bytes, Job::Creation(waiting))?;
        answer.await.unwrap_or_else(|_| Err(self.unanswered()))
    }

    /// Counts a write that committed beside the lanes.
    pub(crate) fn count_alone(&self) {
        self.counters.count(1);
    }

    /// Why a job was dropped without an answer: the writer stopped, or the job panicked and was undone.
    fn unanswered(&self) -> Error {
        self.check_open().err().unwrap_or_else(|| Error::Database("the write panicked and was undone".into()))
    }

    /// Empties the write-ahead log of SQLite, which may hold erased content. Returns when that was tried. If it failed,
    /// the writer tries again after later groups, and when it stops.
    pub(crate) async fn empty_wal(&self) {
        self.counters.has_remains.store(true, Ordering::Relaxed);
        let (done, tried) = oneshot::channel();
        if let Err(error) = self.enqueue(0, 0, Job::EmptyWal(done)) {
            tracing::warn!(%error, "the write-ahead log keeps erased content until a later write");
            return;
        }
        // The writer stopped if there is no answer. It has emptied the log then.
        let _ = tried.await;
    }

    fn enqueue(&self, lane: usize, bytes: usize, job: Job) -> Result<()> {
        self.check_open()?;
        if self.counters.queued_bytes.load(Ordering::Relaxed) + bytes > QUEUE_BYTES_MAX {
            return Err(queue_full());
        }
        self.counters.enqueued(bytes);
        self.lanes[lane].try_send(job).map_err(|_| {
            self.counters.dequeued(bytes);
            queue_full()
        })
    }

    /// Refuses new jobs and waits until the accepted ones are committed.
    pub(crate) async fn close(&self) {
        self.counters.closed.store(true, Ordering::Release);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        for lane in &self.lanes {
            let _ = lane.send(Job::Stop).await;
        }
        for task in tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a writer task failed");
            }
        }
    }
}

fn lane_of(session_id: SessionId) -> usize {
    // The last bytes of a UUIDv7 are random.
    usize::from(session_id.0.as_bytes()[15]) % APPEND_LANES
}
