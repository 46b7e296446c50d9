//! Appending events to a session.

use super::distinct::Distinct;
use crate::{
    Error, Ledger, Result,
    guard::{Fields, require},
};
use domain::{
    Scope, Timestamp,
    chain::body_digest,
    event::{
        Claim, EventRole, Kind, NewEvent, Prefix, check_human, json_depth, normalize_content, validate_metadata,
        without_query,
    },
    id::{EventId, SessionId},
    limit::{BATCH_BYTES_MAX, BATCH_EVENTS_MAX, EVENT_BYTES_MAX, JSON_DEPTH_MAX, KEY_CHARS_MAX, SESSION_EVENTS_MAX},
    role::Permission,
};
use store::{AppendRefusal, AppendRequest, PreparedEvent};

/// One append, which stores all of its events or none.
#[derive(Debug, Clone)]
pub struct Append {
    /// The session to append to.
    pub session_id: SessionId,
    /// The attempt of the worker; `None` when a person writes.
    pub attempt: Option<u32>,
    /// 1 to 500 events.
    pub events: Vec<NewEvent>,
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// Id and sequence of each event, in the order sent.
    pub events: Vec<(EventId, u64)>,
    /// The last sequence of the session.
    pub head_sequence: u64,
}

/// Appends events and returns when they are durable. A repeat with the same client-made ids or external ids returns the
/// recorded events. Equal events of one request are recorded once.
///
/// # Errors
/// [`Error::Invalid`] for an empty batch, more than 500 events, or wrong fields of an event; [`Error::TooLarge`] for
/// too many bytes of one event or of all; [`Error::NotFound`] if the workspace has no such session; [`Error::Refused`]
/// if the worker does not hold the session; [`Error::WriteRefused`] if the caller may not write an event of this kind
/// now; [`Error::IdConflict`] if an id is recorded with another body; [`Error::LimitReached`] if the session is full.
pub async fn append(ledger: &Ledger, scope: &Scope, append: Append) -> Result<Appended> {
    if append.attempt.is_some() {
        require(scope, Permission::Work)?;
    }
    let now = ledger.now();
    let mut distinct = Distinct::of(prepare(ledger, append.events, (now, append.attempt.is_some()))?)?;
    // Workers may not write `human.*` events, and the store refuses them by their kind. Their content is not
    // checked.
    if append.attempt.is_none() {
        check_human_events(&distinct, now)?;
    }
    let request = AppendRequest {
        tenant_id: scope.tenant_id,
        session_id: append.session_id,
        attempt: append.attempt,
        user_id: scope.user_id(),
        actor: scope.caller.to_string(),
        recorded_at: now,
        events: std::mem::take(&mut distinct.events),
    };
    match ledger.store().append(request).await {
        Ok(done) => Ok(Appended { events: distinct.spread(&done.events), head_sequence: done.head_sequence }),
        Err(refusal) => Err(match refusal {
            AppendRefusal::NoSession => Error::NotFound("session"),
            AppendRefusal::Refused(refusal) => refusal.into(),
            AppendRefusal::Write { index, refusal } => Error::WriteRefused { index: distinct.sent_at(index), refusal },
            AppendRefusal::Conflict { index, recorded } => Error::IdConflict {
                detail: format!(
                    "events[{}] has an id that is recorded with another body (digest {recorded})",
                    distinct.sent_at(index)
                ),
            },
            AppendRefusal::SessionFull => {
                Error::LimitReached(format!("a session holds at most {SESSION_EVENTS_MAX} events"))
            }
            AppendRefusal::Storage(error) => error.into(),
        }),
    }
}

/// Checks the content of `human.*` events, which the browser reports.
fn check_human_events(distinct: &Distinct, now: Timestamp) -> Result<()> {
    let mut fields = Fields::default();
    let events = distinct.events.iter().enumerate().map(|(place, event)| (distinct.sent_at(place), event));
    for (index, event) in events.filter(|(_, event)| event.kind.prefix() == Prefix::Human) {
        if event.role != EventRole::User {
            fields.refuse(&format!("events[{index}].role"), "people speak as `user`");
        }
        let PreparedEvent { kind, at, content, metadata, .. } = event;
        if let Err(wrong) = check_human(Claim { kind, at: *at, content, metadata }, now) {
            fields.refuse(&format!("events[{index}].{}", wrong.field), wrong.message);
        }
    }
    fields.check()
}

/// Checks and hashes events before they are queued for the writer.
fn prepare(ledger: &Ledger, events: Vec<NewEvent>, (now, by_worker): (Timestamp, bool)) -> Result<Vec<PreparedEvent>> {
    if events.is_empty() || events.len() > BATCH_EVENTS_MAX {
        return Err(Error::invalid("events", format!("1 to {BATCH_EVENTS_MAX} events")));
    }
    let mut errors = Vec::new();
    let mut prepared = Vec::with_capacity(events.len());
    let mut bytes = 0;
    for (index, event) in events.into_iter().enumerate() {
        match prepare_one(ledger, event, index, (now, by_worker)) {
            Ok(event) => {
                bytes += event.content.len() + event.metadata.len();
                prepared.push(event);
            }
            Err(Error::Invalid(more)) => errors.extend(more),
            Err(other) => return Err(other),
        }
    }
    if !errors.is_empty() {
        return Err(Error::Invalid(errors));
    }
    if bytes > BATCH_BYTES_MAX {
        return Err(Error::TooLarge(format!("content and metadata of one append are at most {BATCH_BYTES_MAX} bytes")));
    }
    Ok(prepared)
}

fn prepare_one(
    ledger: &Ledger,
    event: NewEvent,
    index: usize,
    (now, by_worker): (Timestamp, bool),
) -> Result<PreparedEvent> {
    let mut fields = Fields::default();
    let at = |name: &str| format!("events[{index}].{name}");
    let kind = Kind::parse(&event.kind).map_err(|e| fields.refuse(&at("type"), e.to_string())).ok();
    let content = match event.content.as_deref().map(normalize_content) {
        None => "[]".to_owned(),
        Some(Ok(content)) => content,
        Some(Err(error)) => {
            fields.refuse(&at("content"), error.to_string());
            String::new()
        }
    };
    let metadata = match event.metadata {
        None => "{}".to_owned(),
        Some(raw) => {
            if let Err(error) = validate_metadata(&raw) {
                fields.refuse(&at("metadata"), error.to_string());
            }
            String::from(Box::<str>::from(raw))
        }
    };
    for (name, json) in [("content", &content), ("metadata", &metadata)] {
        if json_depth(json) > JSON_DEPTH_MAX {
            fields.refuse(&at(name), format!("at most {JSON_DEPTH_MAX} levels deep"));
        }
    }
    fields.key(&at("threadId"), event.thread_id.as_deref(), KEY_CHARS_MAX);
    fields.key(&at("externalEventId"), event.external_event_id.as_deref(), KEY_CHARS_MAX);
    if content.len() + metadata.len() > EVENT_BYTES_MAX {
        return Err(Error::TooLarge(format!(
            "events[{index}]: content and metadata of one event are at most {EVENT_BYTES_MAX} bytes"
        )));
    }
    fields.check()?;
    let kind = kind.ok_or_else(|| Error::Internal("an event kind vanished".into()))?;
    let cut = if kind.prefix() == Prefix::Human { without_query(&metadata) } else { None };
    let metadata = cut.unwrap_or(metadata);
    Ok(PreparedEvent {
        id: event.id.unwrap_or_else(|| ledger.event_id(now)),
        client_made: event.id.is_some(),
        role: match by_worker {
            true => EventRole::of_worker(&kind, event.role),
            false => event.role.unwrap_or_else(|| EventRole::of_kind(&kind)),
        },
        kind,
        body: body_digest(&content, &metadata),
        content,
        metadata,
        thread_id: event.thread_id,
        external_event_id: event.external_event_id,
        at: event.at,
    })
}
