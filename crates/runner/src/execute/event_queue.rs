//! Writes an agent's events to the session's log: in order, in batches, each exactly once, with bounded memory.

use super::{
    event,
    lease::{Lease, LeaseLoss, is_transient},
    limit,
    observer::Observer,
};
use domain::{Clock, Entropy, clock::truncate, count::counted, id::EventId, untrusted::Delimiter};
use std::{
    fmt, mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};
use tokio::{
    select,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::{Instant, sleep, timeout_at},
};
use wire::{
    Code,
    event::{Append, NewEvent},
};

/// Sets the id and the time of events that have none.
#[derive(Clone)]
pub struct EventStamp {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl fmt::Debug for EventStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStamp")
    }
}

impl EventStamp {
    /// Takes the time from `clock` and the random part of ids from `entropy`.
    pub const fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy }
    }

    /// Called once per event, before the first attempt to send it: a repeat carries the same id, by which the server
    /// recognises it. An event with an external id is recognised by that one, and a second id would contradict it.
    fn fill(&self, mut event: NewEvent) -> Stamped {
        let now = truncate(self.clock.now());
        if event.external_event_id.is_none() {
            event.id.get_or_insert_with(|| EventId::new(now, &*self.entropy));
        }
        let has_own_time = event.at.is_some();
        event.at.get_or_insert(now);
        Stamped { event, has_own_time }
    }

    fn fresh_key(&self) -> String {
        EventId::new(truncate(self.clock.now()), &*self.entropy).to_string()
    }
}

/// The sending end of the queue. [`EventSender::push`] waits while too many bytes are unacknowledged, so the agent's
/// pipes fill and the agent waits too.
#[derive(Debug, Clone)]
pub struct EventSender {
    sender: mpsc::Sender<Item>,
    capacity: Arc<Semaphore>,
    stamp: EventStamp,
    newest: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Item {
    Event(Queued),
    /// Signals the sender when everything pushed before it is acknowledged.
    Flush(oneshot::Sender<()>),
}

/// An event with an id and a time.
#[derive(Debug)]
struct Stamped {
    event: NewEvent,
    /// Whether the command gave it its time.
    has_own_time: bool,
}

#[derive(Debug)]
struct Queued {
    stamped: Stamped,
    capacity: Option<OwnedSemaphorePermit>,
}

/// The queue is closed because the lease is lost.
#[derive(Debug)]
pub struct Closed;

impl EventSender {
    /// Queues an event. Waits while the queue has [`limit::QUEUE_BYTES_MAX`] bytes.
    ///
    /// # Errors
    /// If the lease is lost.
    pub async fn push(&self, event: NewEvent) -> Result<(), Closed> {
        let stamped = self.stamp.fill(event);
        let bytes = event::size(&stamped.event).clamp(1, limit::QUEUE_BYTES_MAX);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let capacity = Arc::clone(&self.capacity).acquire_many_owned(bytes).await.map_err(|_| Closed)?;
        self.sender.send(Item::Event(Queued { stamped, capacity: Some(capacity) })).await.map_err(|_| Closed)
    }

    /// A new idempotency key for a call of the session.
    pub fn fresh_key(&self) -> String {
        self.stamp.fresh_key()
    }

    /// A new delimiter for a block of untrusted text.
    pub fn delimiter(&self) -> Delimiter {
        Delimiter::new(&*self.stamp.entropy)
    }

    /// Waits until every event that was pushed before is acknowledged.
    ///
    /// # Errors
    /// If the lease is lost.
    pub async fn flush(&self) -> Result<(), Closed> {
        let (done, acknowledged) = oneshot::channel();
        self.sender.send(Item::Flush(done)).await.map_err(|_| Closed)?;
        acknowledged.await.map_err(|_| Closed)
    }

    /// Sequence of the newest event that this queue has appended. `None` before the first one.
    pub fn newest(&self) -> Option<u64> {
        Some(self.newest.load(Relaxed)).filter(|sequence| *sequence > 0)
    }
}

/// The receiving end of the queue: appends the events to the log.
#[derive(Debug)]
pub struct EventAppender {
    receiver: mpsc::Receiver<Item>,
    capacity: Arc<Semaphore>,
    lease: Arc<Lease>,
    observer: Arc<dyn Observer>,
    stamp: EventStamp,
    /// Sequence of the newest event that was appended; 0 before the first one.
    newest: Arc<AtomicU64>,
}

impl Drop for EventAppender {
    /// Fails the pushes that wait for space.
    fn drop(&mut self) {
        self.capacity.close();
    }
}

/// Creates the queue of one session.
pub fn channel(lease: Arc<Lease>, observer: Arc<dyn Observer>, stamp: EventStamp) -> (EventSender, EventAppender) {
    let (sender, receiver) = mpsc::channel(limit::QUEUE_EVENTS_MAX);
    let capacity = Arc::new(Semaphore::new(limit::QUEUE_BYTES_MAX));
    let newest = Arc::<AtomicU64>::default();
    let queue =
        EventSender { sender, capacity: Arc::clone(&capacity), stamp: stamp.clone(), newest: Arc::clone(&newest) };
    (queue, EventAppender { receiver, capacity, lease, observer, stamp, newest })
}

/// The lease was lost while events were being sent.
struct Stopped;

impl EventAppender {
    /// Runs until every [`EventSender`] is dropped and all events are acknowledged, or the lease is lost.
    pub async fn run(mut self) {
        while let Some(item) = self.receiver.recv().await {
            let flush = match item {
                Item::Flush(done) => Some(done),
                Item::Event(first) => {
                    let (batch, flush) = self.collect(first).await;
                    if self.deliver(batch.events).await.is_err() {
                        return;
                    }
                    flush
                }
            };
            // The receiver may have been dropped.
            let _ = flush.map(|done| done.send(()));
        }
    }

    /// Collects the next batch, and the flush that ended it, if any.
    async fn collect(&mut self, first: Queued) -> (Batch, Option<oneshot::Sender<()>>) {
        let mut batch = Batch::new(first, Instant::now());
        while !batch.is_full() {
            match timeout_at(batch.due(), self.receiver.recv()).await {
                Ok(Some(Item::Event(next))) => batch.push(next, Instant::now()),
                Ok(Some(Item::Flush(done))) => return (batch, Some(done)),
                Ok(None) | Err(_) => break,
            }
        }
        (batch, None)
    }

    /// Sends a batch. A batch that is refused, or that the server cannot take while it renews the lease, is halved
    /// until the event is found; that event is sent as text with the reason. One that another run of the command
    /// recorded before differs in the time that it got here, so it is sent again without: the server compares the rest.
    async fn deliver(&self, batch: Vec<Queued>) -> Result<(), Stopped> {
        let mut permits = Vec::with_capacity(batch.len());
        let stamped = batch.into_iter().map(|queued| (permits.push(queued.capacity), queued.stamped).1);
        let mut todo = vec![Chunk::new(stamped, false)];
        while let Some(mut chunk) = todo.pop() {
            let count = chunk.events.len();
            let Err(refusal) = self.append(&mut chunk).await? else {
                self.observer.events_appended(count);
                continue;
            };
            if count > 1 {
                if refusal.is_stuck {
                    let reason = &refusal.reason;
                    self.say(&format!("the server cannot take {count} events, so they are sent in halves: {reason}"));
                }
                todo.push(chunk.split_off(count / 2));
                todo.push(chunk);
            } else if refusal.code == Some(Code::IdConflict) && chunk.take_times() {
                todo.push(chunk);
            } else if chunk.replaced {
                self.lease.lose(LeaseLoss::Unwritable(format!("the log takes no more events: {}", refusal.reason)));
                return Err(Stopped);
            } else {
                self.say(&format!("an event is recorded as text, because it was refused: {}", refusal.reason));
                let texts = chunk.events.iter().flat_map(|refused| event::as_text(refused, &refusal.reason));
                todo.push(Chunk::new(texts.map(|text| self.stamp.fill(text)), true));
            }
        }
        Ok(())
    }

    /// Shows a message about the session.
    fn say(&self, message: &str) {
        self.observer.message(&format!("{}: {message}", self.lease.session_id));
    }

    /// Sends one append and repeats it while its error is transient and the server does not seem healthy. The
    /// inner error is the server's refusal of the events.
    ///
    /// A server that is out of order renews no lease, so the lease bounds the repeats. If it renews the lease and still
    /// does not take the events, they are the cause, and they count as refused.
    async fn append(&self, chunk: &mut Chunk) -> Result<Result<(), Refusal>, Stopped> {
        let body = Append { attempt: Some(self.lease.attempt), events: mem::take(&mut chunk.events) };
        let mut backoff = self.lease.backoff();
        if chunk.of_stuck {
            let (base, cap) = limit::STUCK_PAUSE;
            backoff = backoff.between(base, cap);
        }
        let renewed = self.lease.until();
        let answer = loop {
            let answer = select! {
                biased;
                () = self.lease.lost() => return Err(Stopped),
                answer = self.lease.api.append(self.lease.session_id, &body) => answer,
            };
            let error = match answer {
                Ok(appended) => {
                    if let Some(last) = appended.events.last() {
                        self.newest.store(last.sequence, Relaxed);
                    }
                    break Ok(());
                }
                Err(error) => error,
            };
            // `forbidden` can be about the type of one event. If it is about the worker, the next heartbeat fails too.
            if let Some(loss) = LeaseLoss::of(&error).filter(|_| error.code() != Some(Code::Forbidden)) {
                self.lease.lose(loss);
                return Err(Stopped);
            }
            // Parts of a batch that was stuck are given up sooner; a single event only if the server is healthy.
            let is_healthy = self.lease.until() > renewed;
            let is_stuck = backoff.tries() >= limit::SERVER_ERRORS_MAX
                && (!error.is_retryable() || is_healthy || (chunk.of_stuck && body.events.len() > 1));
            if !is_transient(&error) || is_stuck {
                break Err(Refusal { code: error.code(), reason: error.to_string(), is_stuck });
            }
            if backoff.tries() == 0 {
                self.say(&format!("sending {} again: {error}", counted(body.events.len() as u64, "event")));
            }
            let pause = backoff.pause(&error);
            select! {
                () = self.lease.lost() => return Err(Stopped),
                () = sleep(pause) => {}
            }
        };
        chunk.events = body.events;
        chunk.of_stuck |= answer.as_ref().is_err_and(|refusal| refusal.is_stuck);
        Ok(answer)
    }
}

/// Why the server refuses the events of an append.
struct Refusal {
    code: Option<Code>,
    reason: String,
    /// Whether every repeat failed in the same way, without a refusal by the server.
    is_stuck: bool,
}

struct Chunk {
    events: Vec<NewEvent>,
    /// For each event, whether the command gave it its time.
    own_times: Vec<bool>,
    /// Whether the events are the text of an event that was refused.
    replaced: bool,
    /// Whether the events are part of a batch that every repeat failed for.
    of_stuck: bool,
}

impl Chunk {
    fn new(stamped: impl Iterator<Item = Stamped>, replaced: bool) -> Self {
        let (events, own_times) = stamped.map(|stamped| (stamped.event, stamped.has_own_time)).unzip();
        Self { events, own_times, replaced, of_stuck: false }
    }

    /// Splits the chunk in two at this event and returns the second part.
    fn split_off(&mut self, at: usize) -> Self {
        let (events, own_times) = (self.events.split_off(at), self.own_times.split_off(at));
        Self { events, own_times, ..*self }
    }

    /// Removes the times that the queue gave its events. False if there is none.
    fn take_times(&mut self) -> bool {
        let own_times = self.own_times.iter().copied();
        let given = self.events.iter_mut().zip(own_times).filter(|(_, is_own)| !is_own);
        given.filter_map(|(event, _)| event.at.take()).count() > 0
    }
}

/// Events that are sent in one append.
#[derive(Debug)]
struct Batch {
    events: Vec<Queued>,
    bytes: usize,
    first: Instant,
    last: Instant,
}

impl Batch {
    fn new(first: Queued, now: Instant) -> Self {
        let mut batch = Self { events: Vec::new(), bytes: 0, first: now, last: now };
        batch.push(first, now);
        batch
    }

    fn push(&mut self, queued: Queued, now: Instant) {
        self.bytes += event::size(&queued.stamped.event);
        self.events.push(queued);
        self.last = now;
    }

    fn is_full(&self) -> bool {
        self.events.len() >= limit::BATCH_EVENTS || self.bytes >= limit::BATCH_BYTES
    }

    /// When the batch is sent although it is not full.
    fn due(&self) -> Instant {
        (self.last + limit::BATCH_QUIET).min(self.first + limit::BATCH_AGE)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::notes::Notes, *};

    fn queued(text: &str) -> Queued {
        let event = event::texts("agent.message", text, &Notes::default()).remove(0);
        Queued { stamped: Stamped { event, has_own_time: false }, capacity: None }
    }

    #[test]
    fn a_batch_is_full_at_its_count_or_its_bytes() {
        let now = Instant::now();
        let mut batch = Batch::new(queued("x"), now);
        for _ in 2..limit::BATCH_EVENTS {
            batch.push(queued("x"), now);
            assert!(!batch.is_full());
        }
        batch.push(queued("x"), now);
        assert!(batch.is_full());
        assert!(Batch::new(queued(&"x".repeat(limit::BATCH_BYTES - 500)), now).bytes < limit::BATCH_BYTES);
        let mut batch = Batch::new(queued(&"x".repeat(200_000)), now);
        assert!(!batch.is_full());
        batch.push(queued(&"x".repeat(100_000)), now);
        assert!(batch.is_full());
    }

    #[test]
    fn a_batch_is_due_after_quiet_and_never_later_than_its_age() {
        let start = Instant::now();
        let mut batch = Batch::new(queued("x"), start);
        assert_eq!(batch.due(), start + limit::BATCH_QUIET);
        for step in 1..10 {
            batch.push(queued("x"), start + limit::BATCH_QUIET / 2 * step);
        }
        assert_eq!(
            batch.due(),
            start + limit::BATCH_QUIET / 2 * 9 + limit::BATCH_QUIET.min(limit::BATCH_AGE - limit::BATCH_QUIET / 2 * 9)
        );
        assert_eq!(batch.due(), start + limit::BATCH_AGE);
    }

    #[test]
    fn the_largest_batch_fits_into_one_append() {
        use domain::limit::{BATCH_BYTES_MAX, BATCH_EVENTS_MAX, EVENT_BYTES_MAX};
        const { assert!(limit::BATCH_EVENTS <= BATCH_EVENTS_MAX) };
        const {
            assert!(
                limit::BATCH_BYTES + EVENT_BYTES_MAX + limit::BATCH_EVENTS * limit::ENVELOPE_BYTES < BATCH_BYTES_MAX
            )
        };
    }
}
