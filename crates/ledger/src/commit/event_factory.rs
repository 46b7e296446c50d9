//! Creates events that the server itself writes.

use super::bound_row::{bind_open, status_metadata};
use crate::{Error, Ledger, Result, outbox::MessageIds};
use domain::{
    Timestamp,
    chain::body_digest,
    event::{EventRole, Kind},
    id::EventId,
    session::{Session, Status},
};
use serde_json::{Value, json};
use store::PreparedEvent;

/// A factory of events that the server itself writes. Event ids are created before the transaction, which has no
/// source of randomness.
#[derive(Clone)]
pub(crate) struct EventFactory {
    at: Timestamp,
    ids: Vec<EventId>,
    messages: MessageIds,
}

impl EventFactory {
    /// Creates a factory with ids for at most `count` events.
    pub(crate) fn new(ledger: &Ledger, at: Timestamp, count: usize) -> Self {
        Self { at, ids: (0..count).map(|_| ledger.event_id(at)).collect(), messages: MessageIds::new(ledger, at) }
    }

    /// Uses this id for the first event.
    pub(crate) fn with_first_id(mut self, id: Option<EventId>) -> Self {
        self.ids.extend(id);
        self
    }

    /// The time of the command.
    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    /// The ids of outbox messages about the command.
    pub(crate) fn messages(&self) -> &MessageIds {
        &self.messages
    }

    /// Creates an event with optional text content and with metadata. Its role is system.
    pub(crate) fn event(&mut self, kind: &'static str, text: Option<&str>, metadata: &Value) -> Result<PreparedEvent> {
        let content = text.map_or_else(|| "[]".into(), |text| json!([{ "type": "text", "text": text }]).to_string());
        Ok(PreparedEvent { role: EventRole::System, ..self.prepared(kind, content, metadata.to_string())? })
    }

    /// Creates an event from JSON. Its role is the default of its kind.
    ///
    /// # Errors
    /// [`Error::Internal`] if all ids are used or the kind is not valid.
    pub(crate) fn prepared(&mut self, kind: &'static str, content: String, metadata: String) -> Result<PreparedEvent> {
        let id = self.ids.pop().ok_or_else(|| Error::Internal("no event id left".into()))?;
        let kind = Kind::parse(kind).map_err(|e| Error::Internal(e.to_string()))?;
        Ok(PreparedEvent {
            id,
            client_made: false,
            role: EventRole::of_kind(&kind),
            kind,
            body: body_digest(&content, &metadata),
            content,
            metadata,
            thread_id: None,
            external_event_id: None,
            at: None,
        })
    }

    /// Creates the event that begins a session's log. It contains the digest of what the session is created with.
    pub(crate) fn session_created(&mut self, session: &Session, mut about: Value) -> Result<PreparedEvent> {
        bind_open(&mut about, session)?;
        self.event(Kind::SESSION_CREATED, None, &about)
    }

    /// Creates a `session.status_change` with `{from, to, reason}` to a status that is not final.
    pub(crate) fn status_change(&mut self, from: Option<Status>, to: Status, reason: &str) -> Result<PreparedEvent> {
        self.event(Kind::SESSION_STATUS_CHANGE, None, &json!({ "from": from, "to": to, "reason": reason }))
    }

    /// Creates the change to the status that the row has now. If that status is final, the event contains the
    /// digest of the row, which must not change afterwards.
    pub(crate) fn status_reached(&mut self, from: Status, session: &Session, reason: &str) -> Result<PreparedEvent> {
        self.event(Kind::SESSION_STATUS_CHANGE, None, &status_metadata(from, session, reason))
    }

    /// Like [`EventFactory::status_reached`], of a session that gets a new title with this change.
    pub(crate) fn status_reached_with_title(
        &mut self,
        from: Status,
        session: &Session,
        reason: &str,
    ) -> Result<PreparedEvent> {
        let mut metadata = status_metadata(from, session, reason);
        bind_open(&mut metadata, session)?;
        self.event(Kind::SESSION_STATUS_CHANGE, None, &metadata)
    }
}
