//! The writer: merges writes that arrive at the same time into one transaction and answers after COMMIT.
//!
//! SQLite has one writer task. It owns the only write connection and runs every write as a job. PostgreSQL
//! has two lanes that merge appends and one lane that merges claims. Under low load the first lane takes
//! all appends; under high load the two lanes share them.

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

/// Most jobs in one transaction.
const GROUP_ITEMS_MAX: usize = 256;
/// Bytes after which a transaction takes no more jobs.
const GROUP_BYTES_MAX: usize = 1024 * 1024;
/// Most jobs that wait in one lane. Further jobs are refused with [`Error::Unavailable`].
const QUEUE_ITEMS_MAX: usize = 4_096;
/// Most bytes that wait in all lanes together.
const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Lanes that merge appends on PostgreSQL.
const APPEND_LANES: usize = 2;
/// Most concurrent appends that one lane takes alone. Up to this number larger groups gain more than a
/// second backend; above it a second backend gains more (docs/benchmarks.md).
const ALONE_MAX: usize = 16;
/// Index of the lane that merges claims. There is only one, in which workspaces and agents take turns. With
/// two lanes a busy workspace could occupy one almost alone and take more than its share.
const CLAIM_LANE: usize = APPEND_LANES;

/// Counters of the writer and of reads since the process started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stats {
    /// Jobs waiting now.
    pub queue_items: u64,
    /// Transactions committed.
    pub groups_committed: u64,
    /// Committed transactions that needed one statement, because the heads were cached. PostgreSQL only.
    pub groups_at_known_heads: u64,
    /// Jobs committed.
    pub items_committed: u64,
    /// Events appended by clients.
    pub events_appended: u64,
    /// Reads begun, of one or more queries.
    pub reads: u64,
    /// Reads whose queries all saw the same snapshot.
    pub snapshots: u64,
}

#[derive(Default)]
struct Counters {
    closed: AtomicBool,
    /// Whether both PostgreSQL lanes take appends.
    spread: AtomicBool,
    queued_items: AtomicU64,
    queued_bytes: AtomicUsize,
    groups: AtomicU64,
    groups_at_known_heads: AtomicU64,
    items: AtomicU64,
    events: AtomicU64,
}

impl Counters {
    /// Counts a job as waiting.
    fn enqueued(&self, bytes: usize) {
        self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.queued_items.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a job as no longer waiting.
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
    /// PostgreSQL only.
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

/// A claim and the channel for its answer.
struct WaitingClaim {
    access: Access,
    claim: FirstClaim,
    reply: oneshot::Sender<Result<Option<Vec<SessionRecord>>>>,
}

/// A write with its typed result hidden, so that the writer can run and settle writes of any type.
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
        // Sending fails when the client went away. The write is kept.
        let _ = self.reply.send(result);
    }
}

impl Writer {
    pub(crate) fn sqlite(connection: SqliteConnection, notices: broadcast::Sender<Change>) -> Self {
        let counters = Arc::new(Counters::default());
        let (sender, jobs) = mpsc::channel(QUEUE_ITEMS_MAX);
        let full = connection.full();
        let lane = SqliteLane { connection, notices, counters: counters.clone() };
        // The writer has its own thread, because it blocks on the disk.
        let task = tokio::task::spawn_blocking(move || futures_executor::block_on(lane.run(jobs)));
        Self { lanes: vec![sender], counters, tasks: Mutex::new(vec![task]), full }
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
        let (lanes, queues): (Vec<_>, Vec<_>) = (0..=CLAIM_LANE).map(|_| mpsc::channel(QUEUE_ITEMS_MAX)).unzip();
        let mut tasks = Vec::new();
        for (place, jobs) in queues.into_iter().enumerate() {
            let sinks = (notices.clone(), notifier.clone());
            let lane = PostgresLane::new(pool.clone(), sinks, counters.clone(), heads.clone(), place == 0);
            tasks.push(tokio::spawn(lane.run(jobs)));
        }
        Self { lanes, counters, tasks: Mutex::new(tasks), full: Arc::default() }
    }

    /// Whether a write failed because the disk was full, and no write is known to have succeeded since. Only
    /// SQLite sets this.
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

    /// Claims sessions on PostgreSQL. Waiting claims with the same terms share the statement.
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

/// The jobs of one transaction.
#[derive(Default)]
struct Group {
    jobs: Vec<Job>,
    bytes: usize,
}

impl Group {
    fn is_full(&self) -> bool {
        self.jobs.len() >= GROUP_ITEMS_MAX || self.bytes >= GROUP_BYTES_MAX
    }

    /// Waits for a job, then takes the jobs that are waiting, up to the limits. Returns whether the lane stops.
    /// There is no timer, so the size of a group follows the load. Cancelling the wait loses no job.
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
