//! The jobs of the lanes: their limits, counters and groups.

use crate::{
    engine::{Access, Error, LaneSpan, Result},
    event::{AppendRequest, Settled},
    session::{DecideCompletion, FirstClaim, PlainCreation},
    transaction::{BoxedBody, WriteTx},
};
use domain::{id::SessionId, session::Session};
use futures_util::future::BoxFuture;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tokio::sync::{mpsc, oneshot};
use tracing::Span;

/// Most jobs in one transaction.
const GROUP_ITEMS_MAX: usize = 256;
/// Bytes after which a transaction takes no more jobs.
const GROUP_BYTES_MAX: usize = 1024 * 1024;
/// Most jobs that wait in one lane. Further jobs are refused with [`Error::Unavailable`].
pub(super) const QUEUE_ITEMS_MAX: usize = 4_096;
/// Most concurrent appends that one lane takes alone. Up to this number larger groups gain more than a
/// second backend; above it a second backend gains more (docs/benchmarks.md).
pub(super) const ALONE_MAX: usize = 16;

/// Counters of the writer and of reads since the process started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stats {
    /// Jobs waiting now.
    pub queue_items: u64,
    /// Transactions committed; on PostgreSQL those of appends.
    pub groups_committed: u64,
    /// Committed transactions that needed one statement, because the heads were cached. PostgreSQL only.
    pub groups_at_known_heads: u64,
    /// Writes committed: appends, commands, and the sessions that were claimed, completed or created together.
    pub items_committed: u64,
    /// Events appended by clients.
    pub events_appended: u64,
    /// Reads begun, of one or more queries.
    pub reads: u64,
    /// Reads whose queries all saw the same snapshot.
    pub snapshots: u64,
    /// Statements of snapshots. SQLite only.
    pub statements: u64,
}

#[derive(Default)]
pub(super) struct Counters {
    pub(super) closed: AtomicBool,
    /// Whether both PostgreSQL lanes take appends.
    pub(super) spread: AtomicBool,
    pub(super) queued_items: AtomicU64,
    pub(super) queued_bytes: AtomicUsize,
    /// Whether the write-ahead log may hold erased content. SQLite only.
    pub(super) has_remains: AtomicBool,
    pub(super) groups: AtomicU64,
    pub(super) groups_at_known_heads: AtomicU64,
    pub(super) items: AtomicU64,
    pub(super) events: AtomicU64,
}

impl Counters {
    /// Counts a job as waiting.
    pub(super) fn enqueued(&self, bytes: usize) {
        self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.queued_items.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts committed writes that are no appends.
    pub(super) fn count(&self, items: usize) {
        self.items.fetch_add(items as u64, Ordering::Relaxed);
    }

    /// Counts a job as no longer waiting.
    pub(super) fn dequeued(&self, bytes: usize) {
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.queued_items.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) enum Job {
    Append(Append),
    Command(Box<dyn Command>, LaneSpan),
    /// PostgreSQL only.
    Claim(WaitingClaim),
    /// PostgreSQL only.
    Completion(WaitingCompletion),
    /// PostgreSQL only.
    Creation(Box<WaitingCreation>),
    /// Empties the write-ahead log after the group. Answered when that was tried. SQLite only.
    EmptyWal(oneshot::Sender<()>),
    /// Looks whether another process has written since the last look. SQLite only.
    LookForOthers,
    Stop,
}

impl Job {
    fn span(&self) -> Option<&LaneSpan> {
        match self {
            Self::Append(append) => Some(&append.span),
            Self::Command(_, span) => Some(span),
            Self::Claim(claim) => Some(&claim.span),
            Self::Completion(completion) => Some(&completion.reply.span),
            Self::Creation(creation) => Some(&creation.reply.span),
            Self::EmptyWal(_) | Self::LookForOthers | Self::Stop => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Append(append) => append.request.bytes(),
            Self::Completion(completion) => completion.bytes,
            Self::Creation(creation) => creation.bytes(),
            Self::Command(..) | Self::Claim(_) | Self::EmptyWal(_) | Self::LookForOthers | Self::Stop => 0,
        }
    }
}

/// An append, the channel for its answer and the span that ends with it.
pub(super) struct Append {
    pub(super) request: AppendRequest,
    pub(super) reply: oneshot::Sender<Settled>,
    pub(super) span: LaneSpan,
}

/// A claim, the channel for its answer and the span that ends with it.
pub(super) struct WaitingClaim {
    pub(super) access: Access,
    pub(super) claim: FirstClaim,
    pub(super) reply: oneshot::Sender<Result<Option<Vec<Session>>>>,
    pub(super) span: LaneSpan,
}

/// A completion that waits for its turn.
pub(super) struct WaitingCompletion {
    pub(super) access: Access,
    pub(super) session_id: SessionId,
    pub(super) decide: DecideCompletion,
    /// Size of its texts, bytes.
    pub(super) bytes: usize,
    pub(super) reply: SessionReply,
}

/// A new session that waits for its turn.
pub(super) struct WaitingCreation {
    pub(super) access: Access,
    pub(super) creation: PlainCreation,
    pub(super) reply: SessionReply,
}

impl WaitingCreation {
    pub(super) fn bytes(&self) -> usize {
        let session = &self.creation.session;
        session.input.as_deref().map_or(0, str::len) + session.metadata.len() + session.title.len()
    }
}

/// The channel for a session as it was written, or for `None` if the write has to take the general path, and the span
/// that ends with the answer.
pub(super) struct SessionReply {
    sender: oneshot::Sender<Result<Option<Session>>>,
    span: LaneSpan,
}

impl SessionReply {
    /// A reply, and where its answer arrives.
    pub(super) fn queued() -> (Self, oneshot::Receiver<Result<Option<Session>>>) {
        let (sender, answer) = oneshot::channel();
        (Self { sender, span: LaneSpan::queued() }, answer)
    }

    pub(super) fn span(&self) -> Span {
        self.span.span()
    }

    pub(super) fn answer(self, answer: Result<Option<Session>>) {
        // The span ends before that of the use case, which goes on with the answer.
        drop(self.span);
        // Sending fails when the client went away. The write is kept.
        let _ = self.sender.send(answer);
    }
}

/// The body of a transaction with its typed result hidden, so that what runs transactions is compiled once.
pub(crate) trait Command: Send {
    /// Runs the body.
    fn run<'t, 'c>(self: Box<Self>, tx: &'t mut WriteTx<'c>) -> BoxFuture<'t, Box<dyn Settle>>
    where
        'c: 't;

    /// Answers that the transaction did not begin.
    fn refuse(self: Box<Self>, error: Error);
}

/// The result of a body that has run.
pub(crate) trait Settle: Send {
    /// Whether the body refused, so that the transaction is rolled back.
    fn is_refused(&self) -> bool;

    /// Answers with the body's result, or with the error of COMMIT.
    fn settle(self: Box<Self>, commit: Result<()>);
}

/// A command for this body, and where its answer arrives.
pub(crate) fn command<T, E>(body: BoxedBody<T, E>) -> (Box<dyn Command>, oneshot::Receiver<std::result::Result<T, E>>)
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Typed { body, reply }), answer)
}

struct Typed<T, E> {
    body: BoxedBody<T, E>,
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

    fn refuse(self: Box<Self>, error: Error) {
        let _ = self.reply.send(Err(error.into()));
    }
}

impl<T: Send, E: From<Error> + Send> Settle for Ran<T, E> {
    fn is_refused(&self) -> bool {
        self.result.is_err()
    }

    fn settle(self: Box<Self>, commit: Result<()>) {
        let result = match (self.result, commit) {
            (Ok(_), Err(error)) => Err(error.into()),
            (result, _) => result,
        };
        // Sending fails when the client went away. The write is kept.
        let _ = self.reply.send(result);
    }
}

pub(super) fn queue_full() -> Error {
    Error::Unavailable("too many writes are waiting".into())
}

/// The jobs of one transaction.
#[derive(Default)]
pub(super) struct Group {
    pub(super) jobs: Vec<Job>,
    pub(super) bytes: usize,
}

impl Group {
    pub(super) fn is_full(&self) -> bool {
        self.jobs.len() >= GROUP_ITEMS_MAX || self.bytes >= GROUP_BYTES_MAX
    }

    /// The jobs, whose waiting in the lane ends here.
    pub(super) fn begin(self) -> Vec<Job> {
        for span in self.jobs.iter().filter_map(Job::span) {
            span.taken(self.jobs.len());
        }
        self.jobs
    }

    /// Waits for a job, then takes the jobs that are waiting, up to the limits. Returns whether the lane stops.
    /// There is no timer, so the size of a group follows the load. Cancelling the wait loses no job.
    pub(super) async fn fill(&mut self, jobs: &mut mpsc::Receiver<Job>, counters: &Counters) -> bool {
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
