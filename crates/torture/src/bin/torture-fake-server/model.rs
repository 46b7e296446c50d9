//! Sessions in memory, and what every command does to one.

use anyhow::{Context as _, Result};
use domain::{
    Timestamp,
    chain::{Digest, Link, body_digest, extend},
    clock::from_micros,
    event::EventRole,
    id::{EventId, SessionId},
    session::{EndReason, Status, Type},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use std::{
    collections::HashMap,
    time::{Instant, SystemTime, UNIX_EPOCH},
};
use uuid::Uuid;
use wire::{Code, event::Event, event::NewEvent, session::Session};

/// The only tenant.
pub const TENANT: Uuid = Uuid::from_u128(0x7E57);

/// The bugs that can be planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    SynchronousNormal,
    AckBeforeCommit,
    NoFencing,
    NoDedup,
    SplitBatch,
    SequenceGap,
    DoubleClaim,
    LeaseNeverExpires,
    ExitsByItself,
}

impl Bug {
    pub fn parse(name: &str) -> Result<Self> {
        Ok(match name {
            "synchronous_normal" => Self::SynchronousNormal,
            "ack_before_commit" => Self::AckBeforeCommit,
            "no_fencing" => Self::NoFencing,
            "no_dedup" => Self::NoDedup,
            "split_batch" => Self::SplitBatch,
            "sequence_gap" => Self::SequenceGap,
            "double_claim" => Self::DoubleClaim,
            "lease_never_expires" => Self::LeaseNeverExpires,
            "exits_by_itself" => Self::ExitsByItself,
            _ => anyhow::bail!("no bug is called {name:?}"),
        })
    }
}

/// What is stored of a session beside its events.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    pub id: Uuid,
    pub agent: String,
    pub key: String,
    pub status: Status,
    pub attempt: u32,
    pub lease_ms: u64,
    pub result: Option<Box<RawValue>>,
}

/// One committed change: the row as it is now, and the events that came with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Change {
    pub row: Row,
    pub events: Vec<Event>,
}

/// A session in memory.
#[derive(Debug, Clone)]
pub struct Held {
    pub row: Row,
    pub events: Vec<Event>,
    pub ids: HashMap<EventId, usize>,
    pub renewed: Instant,
}

impl Held {
    pub fn new(row: Row) -> Self {
        Self { row, events: Vec::new(), ids: HashMap::new(), renewed: Instant::now() }
    }

    pub fn head(&self) -> u64 {
        self.events.last().map_or(0, |event| event.sequence)
    }

    pub fn apply(&mut self, change: Change) {
        self.row = change.row;
        for event in change.events {
            self.ids.entry(event.id).or_insert(self.events.len());
            self.events.push(event);
        }
    }

    /// The next events of this log, chained.
    pub fn chained(&self, new: &[NewEvent], attempt: Option<u32>, skip: u64) -> Result<Vec<Event>> {
        let mut previous = Digest::GENESIS;
        if let Some(last) = self.events.last() {
            previous = parse_digest(&last.digest).context("a stored digest is not hex")?;
        }
        let now = now();
        let mut events = Vec::with_capacity(new.len());
        for (new, sequence) in new.iter().zip(self.head() + 1 + skip..) {
            let content = new.content.clone().unwrap_or_else(|| raw("[]"));
            let metadata = new.metadata.clone().unwrap_or_else(|| raw("{}"));
            let id = new.id.map_or_else(random_id, |id| id.0);
            let link = Link {
                tenant_id: TENANT,
                session_id: self.row.id,
                sequence,
                event_id: id,
                kind: &new.kind,
                role: EventRole::Agent.as_str(),
                actor: "token:fake",
                attempt,
                thread_id: None,
                external_event_id: None,
                at: now,
                recorded_at: now,
                body: body_digest(content.get(), metadata.get()),
            };
            previous = extend(previous, &link);
            events.push(Event {
                id: EventId(id),
                sequence,
                kind: new.kind.clone(),
                role: EventRole::Agent,
                content,
                metadata,
                thread_id: None,
                external_event_id: None,
                attempt,
                actor: "token:fake".into(),
                at: now,
                recorded_at: now,
                digest: previous.to_string(),
            });
        }
        Ok(events)
    }

    /// A transition with its events.
    pub fn transition(&self, to: Status, with: &[&str]) -> Result<Change> {
        let mut new: Vec<NewEvent> = with.iter().map(|kind| server_event(kind, "{}")).collect();
        let metadata = json!({"from": self.row.status, "to": to}).to_string();
        new.push(server_event("session.status_change", &metadata));
        Ok(Change { row: Row { status: to, ..self.row.clone() }, events: self.chained(&new, None, 0)? })
    }

    pub fn wire(&self) -> Session {
        let now = now();
        Session {
            id: SessionId(self.row.id),
            session_type: Type::Agent,
            status: self.row.status,
            end_reason: (self.row.status == Status::Completed).then_some(EndReason::Done),
            action_id: None,
            action_slug: None,
            entity_id: None,
            source: None,
            agent_slug: Some(self.row.agent.clone()),
            title: "torture".into(),
            input: None,
            metadata: raw("{}"),
            result: self.row.result.clone(),
            result_left_out: false,
            usage: None,
            error: None,
            parent_id: None,
            waits_for: None,
            retry_of: None,
            created_by: "token:fake".into(),
            attempt: self.row.attempt,
            attempts_max: 3,
            lease_expires_at: None,
            deadline_at: None,
            tags: Vec::new(),
            assignee_id: None,
            head_sequence: self.head(),
            head_digest: self.events.last().map_or_else(|| Digest::GENESIS.to_string(), |event| event.digest.clone()),
            created_at: now,
            updated_at: now,
            started_at: None,
            completed_at: None,
            duration_ms: None,
        }
    }

    /// Whether a holder's command applies.
    pub fn holds(&self, attempt: u32, bug: Option<Bug>) -> Result<(), Code> {
        if attempt != self.row.attempt && bug != Some(Bug::NoFencing) {
            return Err(Code::StaleAttempt);
        }
        match self.row.status {
            Status::Running => Ok(()),
            status if status.is_final() => Err(Code::AlreadyFinal),
            _ => Err(Code::WrongStatus),
        }
    }
}

pub fn raw(text: &str) -> Box<RawValue> {
    // Only ever called with literals and our own JSON; null would be seen at once.
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

pub fn server_event(kind: &str, metadata: &str) -> NewEvent {
    NewEvent {
        id: None,
        kind: kind.to_owned(),
        role: None,
        content: None,
        metadata: Some(raw(metadata)),
        thread_id: None,
        external_event_id: None,
        at: None,
    }
}

/// The current instant, as stored.
#[expect(clippy::disallowed_methods, reason = "the toy server is an edge of its own: its clock is the system's")]
pub fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    from_micros(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX))
}

pub fn random_id() -> Uuid {
    Uuid::from_u128(fastrand::u128(..))
}

fn parse_digest(text: &str) -> Option<Digest> {
    let bytes: Option<Vec<u8>> =
        (0..text.len() / 2).map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()).collect();
    Digest::from_slice(&bytes?)
}
