//! From the command's output to the session's log: bounded, in order, in batches, each event once.

use super::{
    lease::{Lease, Loss, may_pass},
    limit, lines,
    progress::Progress,
};
use crate::ambient::{SystemClock, SystemEntropy};
use domain::{Clock, clock::truncate, id::EventId};
use std::{mem, sync::Arc};
use tokio::{
    select,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::{Instant, sleep, timeout_at},
};
use wire::{
    Code,
    event::{Append, NewEvent},
};

/// The way in. Waits while too much is unacknowledged, so that the command's pipes fill and the command waits too.
#[derive(Debug, Clone)]
pub struct Queue {
    sender: mpsc::Sender<Queued>,
    room: Arc<Semaphore>,
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
        let event = stamped(event);
        let bytes = lines::size(&event).clamp(1, limit::QUEUE_BYTES_MAX);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(bytes).await.map_err(|_| Closed)?;
        self.sender.send(Queued { event, room: Some(room) }).await.map_err(|_| Closed)
    }
}

/// Puts in the id and the time that an event lacks. Once: every try to send it says the same, so that the server
/// knows a repeat from a new event.
fn stamped(mut event: NewEvent) -> NewEvent {
    let now = truncate(SystemClock.now());
    event.id.get_or_insert_with(|| EventId::new(now, &SystemEntropy).to_string());
    event.at.get_or_insert(now);
    event
}

/// The way out.
#[derive(Debug)]
pub struct Outbox {
    receiver: mpsc::Receiver<Queued>,
    room: Arc<Semaphore>,
    lease: Arc<Lease>,
    progress: Arc<Progress>,
}

impl Drop for Outbox {
    /// Wakes those who wait for room that nobody will make.
    fn drop(&mut self) {
        self.room.close();
    }
}

/// Both ends of a session's outbox.
pub fn open(lease: Arc<Lease>, progress: Arc<Progress>) -> (Queue, Outbox) {
    let (sender, receiver) = mpsc::channel(limit::QUEUE_EVENTS_MAX);
    let room = Arc::new(Semaphore::new(limit::QUEUE_BYTES_MAX));
    (Queue { sender, room: Arc::clone(&room) }, Outbox { receiver, room, lease, progress })
}

/// Sending stopped because the lease is lost.
struct Stopped;

impl Outbox {
    /// Sends until every [`Queue`] is dropped and all is acknowledged, or the lease is lost.
    pub async fn run(mut self) {
        while let Some(batch) = self.collect().await {
            if self.deliver(batch.events).await.is_err() {
                return;
            }
        }
    }

    async fn collect(&mut self) -> Option<Batch> {
        let first = self.receiver.recv().await?;
        let mut batch = Batch::new(first, Instant::now());
        while !batch.is_full() {
            match timeout_at(batch.due(), self.receiver.recv()).await {
                Ok(Some(next)) => batch.push(next, Instant::now()),
                Ok(None) | Err(_) => break,
            }
        }
        Some(batch)
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
                self.progress.appended(count);
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
                let texts = piece.events.iter().flat_map(|event| lines::as_text(event, &reason));
                todo.push(Piece { events: texts.map(stamped).collect(), replaced: true });
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
                answer = self.lease.client.append(&self.lease.session_id, &body) => answer,
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
        self.bytes += lines::size(&queued.event);
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
    use lines::{Reader, Said, Stream};

    fn queued(text: &str) -> Queued {
        let line = super::super::split::Line { bytes: text.into(), begins: true, ends: true };
        let Some(Said::Event(event)) = Reader::new(Stream::Stdout).read(&line).pop() else { panic!() };
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
