//! From the agent's output to the session's log: bounded, in order, in batches, each event once.

use super::{
    event,
    lease::{Lease, Loss, may_pass},
    limit,
    report::Report,
};
use domain::{Clock, Entropy, clock::truncate, id::EventId};
use std::{fmt, mem, sync::Arc};
use tokio::{
    select,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::{Instant, sleep, timeout_at},
};
use wire::{
    Code,
    event::{Append, NewEvent},
};

/// Puts in the id and the time that an event lacks.
#[derive(Clone)]
pub struct Stamp {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stamp")
    }
}

impl Stamp {
    /// Of this time and randomness.
    pub const fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy }
    }

    /// Once: every try to send it says the same, so that the server knows a repeat from a new event.
    fn put(&self, mut event: NewEvent) -> NewEvent {
        let now = truncate(self.clock.now());
        event.id.get_or_insert_with(|| EventId::new(now, &*self.entropy).to_string());
        event.at.get_or_insert(now);
        event
    }
}

/// The way in. Waits while too much is unacknowledged, so that an agent's pipes fill and the agent waits too.
#[derive(Debug, Clone)]
pub struct Queue {
    sender: mpsc::Sender<Item>,
    room: Arc<Semaphore>,
    stamp: Stamp,
}

#[derive(Debug)]
enum Item {
    Event(Queued),
    /// Say so when everything before it is acknowledged.
    Flush(oneshot::Sender<()>),
}

#[derive(Debug)]
struct Queued {
    event: NewEvent,
    room: Option<OwnedSemaphorePermit>,
}

/// Nobody sends any more: the lease is lost.
#[derive(Debug)]
pub struct Closed;

impl Queue {
    /// Takes the next event.
    pub async fn push(&self, event: NewEvent) -> Result<(), Closed> {
        let event = self.stamp.put(event);
        let bytes = event::size(&event).clamp(1, limit::QUEUE_BYTES_MAX);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await.map_err(|_| Closed)?;
        self.sender.send(Item::Event(Queued { event, room: Some(room) })).await.map_err(|_| Closed)
    }

    /// Waits until everything that was pushed is acknowledged.
    pub async fn flush(&self) -> Result<(), Closed> {
        let (done, acknowledged) = oneshot::channel();
        self.sender.send(Item::Flush(done)).await.map_err(|_| Closed)?;
        acknowledged.await.map_err(|_| Closed)
    }
}

/// The way out.
#[derive(Debug)]
pub struct Outbox {
    receiver: mpsc::Receiver<Item>,
    room: Arc<Semaphore>,
    lease: Arc<Lease>,
    report: Arc<dyn Report>,
    stamp: Stamp,
}

impl Drop for Outbox {
    /// Wakes those who wait for room that nobody will make.
    fn drop(&mut self) {
        self.room.close();
    }
}

/// Both ends of a session's outbox.
pub fn open(lease: Arc<Lease>, report: Arc<dyn Report>, stamp: Stamp) -> (Queue, Outbox) {
    let (sender, receiver) = mpsc::channel(limit::QUEUE_EVENTS_MAX);
    let room = Arc::new(Semaphore::new(limit::QUEUE_BYTES_MAX));
    let queue = Queue { sender, room: Arc::clone(&room), stamp: stamp.clone() };
    (queue, Outbox { receiver, room, lease, report, stamp })
}

/// Sending stopped because the lease is lost.
struct Stopped;

impl Outbox {
    /// Sends until every [`Queue`] is dropped and all is acknowledged, or the lease is lost.
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
            // Whoever asked may have gone.
            let _ = flush.map(|done| done.send(()));
        }
    }

    /// What goes together, and who waits for it.
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

    /// Sends a batch. One that is refused is sent in halves, down to the event that is to blame; that one is
    /// sent as text with the reason.
    async fn deliver(&self, batch: Vec<Queued>) -> Result<(), Stopped> {
        let mut rooms = Vec::with_capacity(batch.len());
        let events = batch.into_iter().map(|queued| (rooms.push(queued.room), queued.event).1).collect();
        let mut todo = vec![Piece { events, replaced: false }];
        while let Some(mut piece) = todo.pop() {
            let count = piece.events.len();
            let Err(reason) = self.append(&mut piece).await? else {
                self.report.appended(count);
                continue;
            };
            if count > 1 {
                let events = piece.events.split_off(count / 2);
                todo.push(Piece { events, replaced: piece.replaced });
                todo.push(piece);
            } else if piece.replaced {
                self.lease.lose(Loss::Unwritable(format!("the log takes no more events: {reason}")));
                return Err(Stopped);
            } else {
                let texts = piece.events.iter().flat_map(|refused| event::as_text(refused, &reason));
                todo.push(Piece { events: texts.map(|text| self.stamp.put(text)).collect(), replaced: true });
            }
        }
        Ok(())
    }

    /// One append, tried until it is answered. The inner error is the server's reason for refusing the events themselves.
    async fn append(&self, piece: &mut Piece) -> Result<Result<(), String>, Stopped> {
        let body = Append { attempt: Some(self.lease.attempt), events: mem::take(&mut piece.events) };
        let mut backoff = self.lease.backoff();
        let answer = loop {
            let answer = select! {
                biased;
                () = self.lease.lost() => return Err(Stopped),
                answer = self.lease.desk.append(&self.lease.session_id, &body) => answer,
            };
            let Err(error) = answer else { break Ok(()) };
            // Forbidden may be about one event's type; if it is about the worker, the next heartbeat says so.
            if let Some(loss) = Loss::of(&error).filter(|_| error.code() != Some(Code::Forbidden)) {
                self.lease.lose(loss);
                return Err(Stopped);
            }
            let patient = error.is_retryable() || backoff.tries() < limit::SERVER_ERRORS_MAX;
            if !(may_pass(&error) && patient) {
                break Err(error.to_string());
            }
            let pause = backoff.pause(&error);
            select! {
                () = self.lease.lost() => return Err(Stopped),
                () = sleep(pause) => {}
            }
        };
        piece.events = body.events;
        Ok(answer)
    }
}

struct Piece {
    events: Vec<NewEvent>,
    /// Whether this already stands for an event that was refused.
    replaced: bool,
}

/// Events on their way into one append.
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
        self.bytes += event::size(&queued.event);
        self.events.push(queued);
        self.last = now;
    }

    fn is_full(&self) -> bool {
        self.events.len() >= limit::BATCH_EVENTS || self.bytes >= limit::BATCH_BYTES
    }

    /// When to send it as it is.
    fn due(&self) -> Instant {
        (self.last + limit::BATCH_QUIET).min(self.first + limit::BATCH_AGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(text: &str) -> Queued {
        let event = event::texts("agent.message", text, &event::Notes::new()).remove(0);
        Queued { event, room: None }
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
