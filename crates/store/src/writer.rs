//! The writer: merges what arrives together into one transaction and answers after COMMIT.
//!
//! SQLite has one writer task, which owns the only write connection and runs every write as a job.
//! PostgreSQL has two lanes that merge appends and one that merges claims. The first lane of appends takes them all while
//! they are few; when they are many, the two share them.

mod postgres;
mod sqlite;

use crate::{
    append::{AppendRequest, Settled, head_cache::HeadCache},
    conn::Access,
    error::{Error, Result},
    notify::Notifier,
    open::Store,
    record::SessionRecord,
    session::FirstClaim,
    sqlite::SqliteConnection,
    transaction::{Body, Change, WriteTx, lane_with_timeout},
};
use domain::id::SessionId;
use futures_util::future::BoxFuture;
use postgres::PostgresLane;
use sqlite::SqliteLane;
use sqlx::PgPool;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    task::JoinHandle,
};

/// Most jobs of one transaction.
const GROUP_ITEMS_MAX: usize = 256;
/// Most bytes of one transaction.
const GROUP_BYTES_MAX: usize = 1024 * 1024;
/// Jobs that may wait; one more is refused with "try again".
const QUEUE_ITEMS_MAX: usize = 4_096;
/// Bytes that may wait.
const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Lanes that merge appends on PostgreSQL.
const APPEND_LANES: usize = 2;
/// Appends at once that one lane takes alone. Up to there larger groups gain more than a second backend does, beyond it is
/// the other way round (docs/benchmarks.md).
const ALONE_MAX: usize = 16;
/// The lane behind them merges claims. There is one, in which workspaces and agents take turns: of two, a crowded workspace
/// could have one nearly to itself, and take more than its share.
const CLAIM_LANE: usize = APPEND_LANES;

/// Numbers of the writer and of reads since the process started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stats {
    /// Jobs waiting now.
    pub queue_items: u64,
    /// Transactions committed.
    pub groups_committed: u64,
    /// Of those, the ones that took one statement: PostgreSQL, at heads that were known.
    pub groups_at_known_heads: u64,
    /// Jobs committed.
    pub items_committed: u64,
    /// Events appended by clients.
    pub events_appended: u64,
    /// Reads begun, of one or more queries.
    pub reads: u64,
    /// Of those, the ones whose queries all saw one moment.
    pub snapshots: u64,
}

#[derive(Default)]
struct Counters {
    closed: AtomicBool,
    /// PostgreSQL: whether both lanes take appends.
    spread: AtomicBool,
    queued_items: AtomicU64,
    queued_bytes: AtomicUsize,
    groups: AtomicU64,
    groups_at_known_heads: AtomicU64,
    items: AtomicU64,
    events: AtomicU64,
}

impl Counters {
    /// A job waits.
    fn enqueued(&self, bytes: usize) {
        self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.queued_items.fetch_add(1, Ordering::Relaxed);
    }

    /// A job waits no more.
    fn dequeued(&self, bytes: usize) {
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.queued_items.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Handle of the writer tasks.
pub(crate) struct Writer {
    lanes: Vec<mpsc::Sender<Job>>,
    counters: Arc<Counters>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    full: Arc<AtomicBool>,
}

enum Job {
    Append {
        request: AppendRequest,
        reply: oneshot::Sender<Settled>,
    },
    Command(Box<dyn Command>),
    /// PostgreSQL alone.
    Claim(WaitingClaim),
    Stop,
}

impl Job {
    fn bytes(&self) -> usize {
        match self {
            Self::Append { request, .. } => request.bytes(),
            Self::Command(_) | Self::Claim(_) | Self::Stop => 0,
        }
    }
}

/// A claim and who waits for its answer.
struct WaitingClaim {
    access: Access,
    claim: FirstClaim,
    reply: oneshot::Sender<Result<Option<Vec<SessionRecord>>>>,
}

/// A write with its typed result, seen by the writer as something to run and then to settle.
trait Command: Send {
    fn run<'t, 'c>(self: Box<Self>, tx: &'t mut WriteTx<'c>) -> BoxFuture<'t, Box<dyn Settle>>
    where
        'c: 't;
}

trait Settle: Send {
    fn refused(&self) -> bool;
    fn settle(self: Box<Self>, commit: std::result::Result<(), String>);
}

struct Typed<T, E> {
    body: Body<T, E>,
    reply: oneshot::Sender<std::result::Result<T, E>>,
}

struct Ran<T, E> {
    result: std::result::Result<T, E>,
    reply: oneshot::Sender<std::result::Result<T, E>>,
}

impl<T: Send + 'static, E: From<Error> + Send + 'static> Command for Typed<T, E> {
    fn run<'t, 'c>(self: Box<Self>, tx: &'t mut WriteTx<'c>) -> BoxFuture<'t, Box<dyn Settle>>
    where
        'c: 't,
    {
        let Self { body, reply } = *self;
        let work = body(tx);
        Box::pin(async move { Box::new(Ran { result: work.await, reply }) as Box<dyn Settle> })
    }
}

impl<T: Send, E: From<Error> + Send> Settle for Ran<T, E> {
    fn refused(&self) -> bool {
        self.result.is_err()
    }

    fn settle(self: Box<Self>, commit: std::result::Result<(), String>) {
        let result = match (self.result, commit) {
            (Ok(_), Err(detail)) => Err(Error::Unavailable(detail).into()),
            (result, _) => result,
        };
        // Nobody listens when the client went away; the write stands all the same.
        let _ = self.reply.send(result);
    }
}

impl Writer {
    pub(crate) fn sqlite(connection: SqliteConnection, notices: broadcast::Sender<Change>) -> Self {
        let counters = Arc::new(Counters::default());
        let (sender, jobs) = mpsc::channel(QUEUE_ITEMS_MAX);
        let full = connection.full();
        let lane = SqliteLane { connection, notices, counters: counters.clone() };
        // A thread of its own: it waits for the disk, and nobody else should wait with it.
        let task = tokio::task::spawn_blocking(move || futures_executor::block_on(lane.run(jobs)));
        Self { lanes: vec![sender], counters, tasks: Mutex::new(vec![task]), full }
    }

    /// Takes no writes.
    pub(crate) fn none() -> Self {
        let counters = Arc::new(Counters::default());
        counters.closed.store(true, Ordering::Release);
        Self { lanes: Vec::new(), counters, tasks: Mutex::default(), full: Arc::default() }
    }

    pub(crate) fn postgres(pool: PgPool, notices: broadcast::Sender<Change>, notifier: Notifier) -> Self {
        let counters = Arc::new(Counters::default());
        let heads = Arc::new(HeadCache::new());
        let (lanes, queues): (Vec<_>, Vec<_>) = (0..=CLAIM_LANE).map(|_| mpsc::channel(QUEUE_ITEMS_MAX)).unzip();
        let mut tasks = Vec::new();
        for (place, jobs) in queues.into_iter().enumerate() {
            let sinks = (notices.clone(), notifier.clone());
            let lane = PostgresLane::new(pool.clone(), sinks, counters.clone(), heads.clone(), place == 0);
            tasks.push(tokio::spawn(lane.run(jobs)));
        }
        Self { lanes, counters, tasks: Mutex::new(tasks), full: Arc::default() }
    }

    /// Whether a write failed because the disk was full, and none has been seen to succeed since. Known of SQLite alone.
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
    pub(crate) async fn run<T, E>(&self, body: Body<T, E>) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        self.enqueue(0, 0, Job::Command(Box::new(Typed { body, reply })))?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the writer stopped".into()).into()))
    }

    async fn append(&self, request: AppendRequest) -> Settled {
        let (reply, answer) = oneshot::channel();
        let lane = if self.counters.spread.load(Ordering::Relaxed) { lane_of(request.session_id) } else { 0 };
        let bytes = request.bytes();
        self.enqueue(lane, bytes, Job::Append { request, reply })?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the writer stopped".into()).into()))
    }

    /// On PostgreSQL: claims, together with the claims on the same terms that wait.
    pub(crate) async fn claim(&self, access: Access, claim: FirstClaim) -> Result<Option<Vec<SessionRecord>>> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(CLAIM_LANE, 0, Job::Claim(WaitingClaim { access, claim, reply }))?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the writer stopped".into())))
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

impl Store {
    /// Appends events; returns after COMMIT. Concurrent calls share a transaction.
    pub async fn append(&self, request: AppendRequest) -> Settled {
        if self.is_postgres() {
            return lane_with_timeout(self.writer().append(request)).await;
        }
        self.writer().append(request).await
    }
}

fn queue_full() -> Error {
    Error::Unavailable("too many writes are waiting".into())
}

fn lane_of(session_id: SessionId) -> usize {
    // The last bytes of a UUIDv7 are random.
    usize::from(session_id.0.as_bytes()[15]) % APPEND_LANES
}

/// Jobs of one transaction.
#[derive(Default)]
struct Group {
    jobs: Vec<Job>,
    bytes: usize,
}

impl Group {
    fn is_full(&self) -> bool {
        self.jobs.len() >= GROUP_ITEMS_MAX || self.bytes >= GROUP_BYTES_MAX
    }

    /// Waits for a job, then takes what else is there; whether the lane stops. No timer: the group is as large as the load.
    /// Whoever gives up waiting has lost nothing.
    async fn fill(&mut self, jobs: &mut mpsc::Receiver<Job>, counters: &Counters) -> bool {
        let mut stop = false;
        let mut next = jobs.recv().await;
        loop {
            match next {
                None | Some(Job::Stop) => {
                    stop = true;
                    // What was accepted before the stop is still written.
                    jobs.close();
                }
                Some(job) => {
                    let bytes = job.bytes();
                    self.bytes += bytes;
                    counters.dequeued(bytes);
                    self.jobs.push(job);
                }
            }
            if !stop && self.is_full() {
                break;
            }
            match jobs.try_recv() {
                Ok(job) => next = Some(job),
                Err(_) => break,
            }
        }
        stop
    }
}
