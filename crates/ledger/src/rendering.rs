//! Events on their way to followers, and their renderings.
//!
//! The formats themselves are those of the protocols that serve followers. Here is only how a rendering is shared.

use bytes::Bytes;
use domain::event::Event;
use std::sync::{Arc, OnceLock};

/// Number of formats that followers can get events in.
pub const FORMATS: usize = 2;

/// Appends an event to the buffer.
pub type RenderEvent = fn(&Event, &mut Vec<u8>);

/// A format of events for followers. Each is a constant with a slot of its own, below [`FORMATS`].
#[derive(Debug, Clone, Copy)]
pub struct Format {
    slot: usize,
    render: RenderEvent,
}

impl Format {
    /// Declares a format. A constant whose slot is not below [`FORMATS`] does not compile.
    pub const fn new(slot: usize, render: RenderEvent) -> Self {
        assert!(slot < FORMATS, "FORMATS is the number of formats");
        Self { slot, render }
    }
}

/// Consecutive events of a session: those of one commit, or a part of the log that a follower read. The followers of a
/// session share the batch of a commit, so each format is rendered once for all of them. A format that no one follows
/// is not rendered.
#[derive(Debug)]
pub struct Batch {
    events: Arc<[Event]>,
    rendered: [OnceLock<Bytes>; FORMATS],
}

impl Batch {
    pub(crate) fn new(events: Arc<[Event]>) -> Self {
        Self { events, rendered: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// The events, oldest first.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the events in this format, one after the other. The first call renders them; calls at the same time wait
    /// for it.
    pub fn rendered(&self, format: &Format) -> Bytes {
        let render = || {
            let mut buffer = Vec::new();
            self.events.iter().for_each(|event| (format.render)(event, &mut buffer));
            buffer.into()
        };
        self.rendered[format.slot].get_or_init(render).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{
        chain::Digest,
        event::EventRole,
        id::{EventId, SessionId},
    };
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    const FOLLOWERS: usize = 1_000;
    const EVENTS: u64 = 3;

    static COUNTED: AtomicUsize = AtomicUsize::new(0);
    const COUNTING: Format = Format::new(0, |event, buffer| {
        COUNTED.fetch_add(1, Ordering::SeqCst);
        buffer.extend_from_slice(event.sequence.to_string().as_bytes());
    });
    const KINDS: Format = Format::new(1, |event, buffer| buffer.extend_from_slice(event.kind.as_bytes()));

    fn event(sequence: u64) -> Event {
        let at = domain::clock::from_micros(0);
        Event {
            id: EventId(uuid::Uuid::nil()),
            session_id: SessionId(uuid::Uuid::nil()),
            sequence,
            kind: "a.b".to_owned(),
            role: EventRole::Agent,
            content: "[]".to_owned(),
            metadata: "{}".to_owned(),
            thread_id: None,
            external_event_id: None,
            attempt: None,
            actor: "system".to_owned(),
            at,
            recorded_at: at,
            body: Digest([0; 32]),
            digest: Digest([0; 32]),
        }
    }

    #[test]
    fn a_format_is_rendered_once_for_all_followers_and_only_if_it_is_followed() {
        let batch = Batch::new((1..=EVENTS).map(event).collect());
        assert_eq!(batch.rendered(&KINDS), "a.ba.ba.b");
        assert_eq!(COUNTED.load(Ordering::SeqCst), 0, "no one follows in this format yet");
        thread::scope(|scope| {
            for _ in 0..FOLLOWERS {
                scope.spawn(|| assert_eq!(batch.rendered(&COUNTING), "123"));
            }
        });
        assert_eq!(COUNTED.load(Ordering::SeqCst), 3);
        assert_eq!(batch.rendered(&KINDS), "a.ba.ba.b", "formats do not share a rendering");
    }
}
