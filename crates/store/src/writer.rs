//! The writer: merges what arrives together into one transaction and answers after COMMIT.
//!
//! SQLite has one writer task, which owns the only write connection and runs every write as a job.
//! PostgreSQL has a few lanes that merge appends; a session always takes the same lane.

use crate::{
    append::{self, AppendRefusal, AppendRequest, GroupNotices, Settled},
    conn::{Access, Conn},
    error::{Error, Result, is_unique_violation},
    notify::Notifier,
    open::{Store, publish},
    transaction::{Body, Change, Notice, WriteTx, answer_in_time, in_transaction},
};
use domain::id::SessionId;
use futures_util::future::BoxFuture;
use sqlx::{Connection as _, PgPool, SqliteConnection};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
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
const LANES: usize = 4;

/// Numbers of the writer since the process started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stats {
    /// Jobs waiting now.
    pub queue_items: u64,
    /// Transactions committed.
    pub groups_committed: u64,
    /// Jobs committed.
    pub items_committed: u64,
    /// Events appended by clients.
    pub events_appended: u64,
}

#[derive(Default)]
struct Counters {
    closed: AtomicBool,
    queued_items: AtomicU64,
    queued_bytes: AtomicUsize,
    groups: AtomicU64,
    items: AtomicU64,
    events: AtomicU64,
}

/// Handle of the writer tasks.
pub(crate) struct Writer {
    lanes: Vec<mpsc::Sender<Job>>,
    counters: Arc<Counters>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

enum Job {
    Append { request: AppendRequest, reply: oneshot::Sender<Settled> },
    Command(Box<dyn Command>),
    Stop,
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
        let task = tokio::spawn(SqliteLane { connection, notices, counters: counters.clone() }.run(jobs));
        Self { lanes: vec![sender], counters, tasks: Mutex::new(vec![task]) }
    }

    pub(crate) fn postgres(pool: PgPool, notices: broadcast::Sender<Change>, notifier: Notifier) -> Self {
        let counters = Arc::new(Counters::default());
        let mut lanes = Vec::new();
        let mut tasks = Vec::new();
        for _ in 0..LANES {
            let (sender, jobs) = mpsc::channel(QUEUE_ITEMS_MAX);
            let lane = PostgresLane {
                pool: pool.clone(),
                notices: notices.clone(),
                notifier: notifier.clone(),
                counters: counters.clone(),
            };
            lanes.push(sender);
            tasks.push(tokio::spawn(lane.run(jobs)));
        }
        Self { lanes, counters, tasks: Mutex::new(tasks) }
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            queue_items: self.counters.queued_items.load(Ordering::Relaxed),
            groups_committed: self.counters.groups.load(Ordering::Relaxed),
            items_committed: self.counters.items.load(Ordering::Relaxed),
            events_appended: self.counters.events.load(Ordering::Relaxed),
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
        let lane = lane_of(request.session_id, self.lanes.len());
        let bytes = request.bytes();
        self.enqueue(lane, bytes, Job::Append { request, reply })?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the writer stopped".into()).into()))
    }

    fn enqueue(&self, lane: usize, bytes: usize, job: Job) -> Result<()> {
        self.check_open()?;
        let full = || Error::Unavailable("too many writes are waiting".into());
        if self.counters.queued_bytes.load(Ordering::Relaxed) + bytes > QUEUE_BYTES_MAX {
            return Err(full());
        }
        self.counters.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.counters.queued_items.fetch_add(1, Ordering::Relaxed);
        self.lanes[lane].try_send(job).map_err(|_| {
            self.counters.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.counters.queued_items.fetch_sub(1, Ordering::Relaxed);
            full()
        })
    }

    /// Refuses new jobs and waits until the accepted ones are committed.
    pub(crate) async fn close(&self) {
        self.counters.closed.store(true, Ordering::Release);
        for lane in &self.lanes {
            let _ = lane.send(Job::Stop).await;
        }
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
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
            let store = self.clone();
            return answer_in_time(async move { store.writer().append(request).await }).await;
        }
        self.writer().append(request).await
    }
}

fn lane_of(session_id: SessionId, lanes: usize) -> usize {
    // The last bytes of a UUIDv7 are random.
    usize::from(session_id.0.as_bytes()[15]) % lanes
}

/// Waits for a job, then takes what else is there: no timer, the group is as large as the load.
async fn next_group(jobs: &mut mpsc::Receiver<Job>, counters: &Counters) -> (Vec<Job>, bool) {
    let mut group = Vec::new();
    let mut bytes = 0;
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
                counters.queued_items.fetch_sub(1, Ordering::Relaxed);
                if let Job::Append { request, .. } = &job {
                    let size = request.bytes();
                    bytes += size;
                    counters.queued_bytes.fetch_sub(size, Ordering::Relaxed);
                }
                group.push(job);
            }
        }
        if !stop && (group.len() >= GROUP_ITEMS_MAX || bytes >= GROUP_BYTES_MAX) {
            break;
        }
        match jobs.try_recv() {
            Ok(job) => next = Some(job),
            Err(_) => break,
        }
    }
    (group, stop)
}

struct SqliteLane {
    connection: SqliteConnection,
    notices: broadcast::Sender<Change>,
    counters: Arc<Counters>,
}

/// Results that wait for COMMIT.
#[derive(Default)]
struct Waiting {
    commands: Vec<Box<dyn Settle>>,
    appends: Vec<(oneshot::Sender<Settled>, Settled)>,
    notices: Vec<Notice>,
}

impl SqliteLane {
    async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        loop {
            let (group, stop) = next_group(&mut jobs, &self.counters).await;
            if !group.is_empty() {
                self.commit_group(group).await;
            }
            if stop {
                break;
            }
        }
        if let Err(error) = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut self.connection).await {
            tracing::warn!(%error, "the last checkpoint failed; the next start repeats it");
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "closing the database failed");
        }
    }

    async fn commit_group(&mut self, group: Vec<Job>) {
        let items = group.len() as u64;
        let mut waiting = Waiting::default();
        let outcome = self.apply_group(group, &mut waiting).await;
        let commit = match outcome {
            Ok(()) => sqlx::raw_sql("COMMIT").execute(&mut self.connection).await.map(|_| ()),
            Err(error) => Err(error),
        };
        let failure = match commit {
            Ok(()) => None,
            Err(error) => {
                // After a failed COMMIT the transaction may or may not be open; both are fine for ROLLBACK.
                let _ = sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await;
                tracing::error!(%error, items, "a group was rolled back");
                Some(error.to_string())
            }
        };
        self.counters.groups.fetch_add(1, Ordering::Relaxed);
        self.counters.items.fetch_add(items, Ordering::Relaxed);
        // Readers may ask at once: the notices go out before the answers.
        if failure.is_none() {
            publish(&self.notices, None, waiting.notices);
        }
        for (reply, settled) in waiting.appends {
            let settled = match (&failure, settled) {
                (Some(detail), Ok(_)) => Err(Error::Unavailable(detail.clone()).into()),
                (None, Ok(done)) => {
                    self.counters.events.fetch_add(done.events.len() as u64, Ordering::Relaxed);
                    Ok(done)
                }
                (_, refused) => refused,
            };
            let _ = reply.send(settled);
        }
        for command in waiting.commands {
            command.settle(failure.clone().map_or(Ok(()), Err));
        }
    }

    /// Everything between BEGIN and COMMIT. Consecutive appends are one step; each command is a savepoint.
    async fn apply_group(&mut self, group: Vec<Job>, waiting: &mut Waiting) -> std::result::Result<(), sqlx::Error> {
        let begun = sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut self.connection).await.map(|_| ());
        let mut broken = begun.err();
        let mut appends: Vec<(AppendRequest, oneshot::Sender<Settled>)> = Vec::new();
        for job in group {
            match job {
                Job::Append { request, reply } => appends.push((request, reply)),
                Job::Command(command) => {
                    self.append_step(&mut appends, waiting, &mut broken).await;
                    self.command_step(command, waiting, &mut broken).await;
                }
                Job::Stop => {}
            }
        }
        self.append_step(&mut appends, waiting, &mut broken).await;
        broken.map_or(Ok(()), Err)
    }

    async fn append_step(
        &mut self,
        appends: &mut Vec<(AppendRequest, oneshot::Sender<Settled>)>,
        waiting: &mut Waiting,
        broken: &mut Option<sqlx::Error>,
    ) {
        let (requests, replies): (Vec<_>, Vec<_>) = std::mem::take(appends).into_iter().unzip();
        if requests.is_empty() {
            return;
        }
        let settled = match broken {
            Some(error) => Err(error.to_string()),
            None => match self.appends(&requests).await {
                Ok((settled, notices)) => {
                    waiting.notices.extend(notices);
                    Ok(settled)
                }
                Err(error) => {
                    let text = error.to_string();
                    *broken = Some(error);
                    Err(text)
                }
            },
        };
        #[cfg(feature = "planted-bugs")]
        if crate::planted::is(crate::planted::Bug::AckBeforeCommit) {
            for (reply, settled) in replies.into_iter().zip(settled.unwrap_or_default()) {
                let _ = reply.send(settled);
            }
            return;
        }
        match settled {
            Ok(settled) => waiting.appends.extend(replies.into_iter().zip(settled)),
            Err(text) => waiting.appends.extend(replies.into_iter().map(|reply| {
                let refusal: AppendRefusal = Error::Unavailable(text.clone()).into();
                (reply, Err(refusal))
            })),
        }
    }

    async fn appends(&mut self, requests: &[AppendRequest]) -> std::result::Result<(Vec<Settled>, Vec<Notice>), sqlx::Error> {
        #[cfg(feature = "planted-bugs")]
        if crate::planted::is(crate::planted::Bug::SplitBatch) {
            self.first_halves(requests).await?;
        }
        let requests: Vec<&AppendRequest> = requests.iter().collect();
        sqlx::raw_sql("SAVEPOINT appends").execute(&mut self.connection).await?;
        let mut notices = GroupNotices::default();
        let applied = append::apply(&mut Conn::Sqlite(&mut self.connection), &requests, &mut notices).await;
        let settled = match applied {
            Ok(settled) => settled,
            Err(error) if is_unique_violation(&error) => {
                sqlx::raw_sql("ROLLBACK TO appends").execute(&mut self.connection).await?;
                notices = GroupNotices::default();
                append::apply_carefully(&mut Conn::Sqlite(&mut self.connection), &requests, &mut notices).await?
            }
            Err(error) => return Err(error),
        };
        sqlx::raw_sql("RELEASE appends").execute(&mut self.connection).await?;
        Ok((settled, notices.into_notices()))
    }

    /// The planted bug: commits the first half of each batch on its own; the whole batch then finds it recorded.
    #[cfg(feature = "planted-bugs")]
    async fn first_halves(&mut self, requests: &[AppendRequest]) -> std::result::Result<(), sqlx::Error> {
        for request in requests.iter().filter(|r| r.events.len() > 1) {
            let mut half = request.clone();
            half.events.truncate(request.events.len() / 2);
            let mut notices = GroupNotices::default();
            append::apply_carefully(&mut Conn::Sqlite(&mut self.connection), &[&half], &mut notices).await?;
            sqlx::raw_sql("COMMIT; BEGIN IMMEDIATE").execute(&mut self.connection).await?;
        }
        Ok(())
    }

    async fn command_step(&mut self, command: Box<dyn Command>, waiting: &mut Waiting, broken: &mut Option<sqlx::Error>) {
        if broken.is_none() {
            *broken = sqlx::raw_sql("SAVEPOINT command").execute(&mut self.connection).await.err();
        }
        let mut tx = WriteTx::new(Conn::Sqlite(&mut self.connection));
        let ran = command.run(&mut tx).await;
        let notices = tx.into_notices();
        let end = if ran.refused() { "ROLLBACK TO command; RELEASE command" } else { "RELEASE command" };
        if !ran.refused() {
            waiting.notices.extend(notices);
        }
        waiting.commands.push(ran);
        if broken.is_none() {
            *broken = sqlx::raw_sql(end).execute(&mut self.connection).await.err();
        }
    }
}

#[derive(Clone)]
struct PostgresLane {
    pool: PgPool,
    notices: broadcast::Sender<Change>,
    notifier: Notifier,
    counters: Arc<Counters>,
}

impl PostgresLane {
    async fn run(self, mut jobs: mpsc::Receiver<Job>) {
        loop {
            let (group, stop) = next_group(&mut jobs, &self.counters).await;
            // Row-level security knows one workspace and one person per transaction.
            let mut by_access: HashMap<Access, Vec<(AppendRequest, oneshot::Sender<Settled>)>> = HashMap::new();
            for job in group {
                if let Job::Append { request, reply } = job {
                    let access = Access::Tenant { tenant_id: request.tenant_id, user_id: request.user_id };
                    by_access.entry(access).or_default().push((request, reply));
                }
            }
            for (access, appends) in by_access {
                self.commit(access, appends).await;
            }
            if stop {
                break;
            }
        }
    }

    async fn commit(&self, access: Access, appends: Vec<(AppendRequest, oneshot::Sender<Settled>)>) {
        let (requests, replies): (Vec<_>, Vec<_>) = appends.into_iter().unzip();
        let requests: Vec<&AppendRequest> = requests.iter().collect();
        let mut outcome = self.attempt(access, &requests, false).await;
        if matches!(&outcome, Err(Attempt::Repeated)) {
            outcome = self.attempt(access, &requests, true).await;
        }
        match outcome {
            Ok((settled, notices)) => {
                self.counters.groups.fetch_add(1, Ordering::Relaxed);
                self.counters.items.fetch_add(replies.len() as u64, Ordering::Relaxed);
                publish(&self.notices, Some(&self.notifier), notices.into_notices());
                for (reply, settled) in replies.into_iter().zip(settled) {
                    if let Ok(done) = &settled {
                        self.counters.events.fetch_add(done.events.len() as u64, Ordering::Relaxed);
                    }
                    let _ = reply.send(settled);
                }
            }
            Err(error) => {
                let text = match error {
                    Attempt::Repeated => "ids repeated".to_owned(),
                    Attempt::Failed(error) => error.to_string(),
                };
                tracing::error!(error = text, items = replies.len(), "a group was rolled back");
                for reply in replies {
                    let refusal: AppendRefusal = Error::Unavailable(text.clone()).into();
                    let _ = reply.send(Err(refusal));
                }
            }
        }
    }

    async fn attempt(
        &self,
        access: Access,
        requests: &[&AppendRequest],
        careful: bool,
    ) -> std::result::Result<(Vec<Settled>, GroupNotices), Attempt> {
        in_transaction(&self.pool, access, false, async |connection| {
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
        })
        .await
    }
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
