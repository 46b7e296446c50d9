//! Batches of events, made so that every id and every byte follows from the seed.

use crate::{
    client::body_digest,
    history::{Op, Sent},
};
use std::fmt::Write as _;
use uuid::{Builder, Uuid};

/// Largest batch of the append workload.
const BATCH_MAX: usize = 100;
/// Share of appends that carry one event, percent.
const SINGLE_PERCENT: u32 = 70;
/// Texts that storage must keep byte for byte: escapes, NUL, unicode, numbers that do not fit a double.
const ODD: [&str; 5] = [r"a\u0000b", r"\u00e9é\ud83d\ude00", r"\\n\n\t", "Ωmega ✓", r"' OR 1=1 --"];

/// One logical append: the same ids and bytes on every try.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Ids and digests, as recorded.
    pub events: Vec<Sent>,
    /// The request body.
    pub body: Vec<u8>,
    /// The operation.
    pub op: Op,
}

impl Batch {
    /// A batch of 1 to 100 events.
    pub fn any(rng: &mut fastrand::Rng, session: Uuid, attempt: u32) -> Self {
        let size = if rng.u32(0..100) < SINGLE_PERCENT { 1 } else { rng.usize(2..=BATCH_MAX) };
        Self::sized(rng, session, attempt, size)
    }

    /// A batch of `size` events.
    pub fn sized(rng: &mut fastrand::Rng, session: Uuid, attempt: u32, size: usize) -> Self {
        let events: Vec<(Uuid, String, String)> = (0..size)
            .map(|_| {
                let (content, metadata) = texts(rng);
                (event_id(rng), content, metadata)
            })
            .collect();
        Self::of(session, attempt, &events)
    }

    /// The first event's id again, with another body.
    pub fn conflicting(&self, rng: &mut fastrand::Rng, session: Uuid, attempt: u32) -> Option<(Sent, Vec<u8>)> {
        let (id, _) = *self.events.first()?;
        let batch = Self::of(session, attempt, &[(id, r#"[{"type":"text","text":"other"}]"#.into(), texts(rng).1)]);
        Some((*batch.events.first()?, batch.body))
    }

    /// A request that contradicts itself: two different events of one external id. The operation names an event of its
    /// own, which is never stored.
    pub fn contradiction(rng: &mut fastrand::Rng, session: Uuid, attempt: u32) -> (Op, Vec<u8>) {
        let id = event_id(rng);
        let event = |content: &str| {
            format!(r#"{{"externalEventId":"{id}","type":"external.event","content":{content},"metadata":{{}}}}"#)
        };
        let (one, other) = (texts(rng).0, r#"[{"type":"text","text":"other"}]"#);
        let body = format!(r#"{{"attempt":{attempt},"events":[{},{}]}}"#, event(&one), event(other));
        (Op::Conflict { session, attempt, event: (id, body_digest(other, "{}")) }, body.into_bytes())
    }

    fn of(session: Uuid, attempt: u32, events: &[(Uuid, String, String)]) -> Self {
        let mut body = format!(r#"{{"attempt":{attempt},"events":["#);
        let mut sent = Vec::with_capacity(events.len());
        for (index, (id, content, metadata)) in events.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a String cannot fail.
            let _ = write!(
                body,
                r#"{comma}{{"id":"{id}","type":"agent.message","content":{content},"metadata":{metadata}}}"#
            );
            sent.push((*id, body_digest(content, metadata)));
        }
        body.push_str("]}");
        let op = Op::Append { session, attempt, events: sent.clone() };
        Self { events: sent, body: body.into_bytes(), op }
    }
}

fn event_id(rng: &mut fastrand::Rng) -> Uuid {
    Builder::from_random_bytes(rng.u128(..).to_be_bytes()).into_uuid()
}

fn texts(rng: &mut fastrand::Rng) -> (String, String) {
    let length = if rng.u32(0..50) == 0 { rng.usize(1_000..8_000) } else { rng.usize(8..120) };
    let mut text: String = (0..length).map(|_| rng.lowercase()).collect();
    if rng.u32(0..10) == 0 {
        text.push_str(ODD[rng.usize(0..ODD.len())]);
    }
    let number = rng.u32(..);
    (format!(r#"[{{"type":"text", "text":"{text}"}}]"#), format!(r#"{{"n":{number}.10e2}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_every_byte() {
        let make = || Batch::sized(&mut fastrand::Rng::with_seed(7), Uuid::from_u128(1), 2, 50);
        assert_eq!(make().body, make().body);
        let request: wire::event::Append = serde_json::from_slice(&make().body).unwrap();
        assert_eq!(request.events.len(), 50);
        for (event, (id, digest)) in request.events.iter().zip(make().events) {
            assert_eq!(event.id, Some(domain::id::EventId(id)));
            let (content, metadata) = (event.content.as_ref().unwrap(), event.metadata.as_ref().unwrap());
            assert_eq!(body_digest(content.get(), metadata.get()), digest);
        }
    }
}
