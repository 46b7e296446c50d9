//! Events that the server itself writes.

use super::final_row::status_metadata;
use crate::{Error, Ledger, Result, SessionRecord, outbox::MessageIds};
use domain::{
    Timestamp,
    chain::body_digest,
    event::{EventRole, Kind},
    id::EventId,
    session::Status,
};
use serde_json::{Value, json};
use store::PreparedEvent;

/// An event that the server itself writes. Ids are made before the transaction, because the transaction
/// has no randomness of its own.
#[derive(Clone)]
pub(crate) struct EventFactory {
    at: Timestamp,
    ids: Vec<EventId>,
    messages: MessageIds,
}

impl EventFactory {
    /// Ids for at most `count` events.
    pub(crate) fn new(ledger: &Ledger, at: Timestamp, count: usize) -> Self {
        Self { at, ids: (0..count).map(|_| ledger.event_id(at)).collect(), messages: MessageIds::new(ledger, at) }
    }

    /// The same, where the first event has an id already.
    pub(crate) fn with_first_id(mut self, id: Option<EventId>) -> Self {
        self.ids.extend(id);
        self
    }

    /// The instant of the command.
    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    /// Ids for messages about the command.
    pub(crate) fn messages(&self) -> &MessageIds {
        &self.messages
    }

    /// A server-written event with text content (or none) and metadata.
    pub(crate) fn event(&mut self, kind: &'static str, text: Option<&str>, metadata: &Value) -> Result<PreparedEvent> {
        let content = text.map_or_else(|| "[]".into(), |text| json!([{ "type": "text", "text": text }]).to_string());
        Ok(PreparedEvent { role: EventRole::System, ..self.prepared(kind, content, metadata.to_string())? })
    }

    /// A server-written event of ready JSON, spoken by whoever its kind says.
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

    /// `session.status_change` with `{from, to, reason}`, to a status that is not final.
    pub(crate) fn status_change(&mut self, from: Option<Status>, to: Status, reason: &str) -> Result<PreparedEvent> {
        self.event(Kind::SESSION_STATUS_CHANGE, None, &json!({ "from": from, "to": to, "reason": reason }))
    }

    /// The same to the status that the row has now. If that is final, the event binds the row: what it covers must not
    /// change afterwards.
    pub(crate) fn status_reached(
        &mut self,
        from: Status,
        session: &SessionRecord,
        reason: &str,
    ) -> Result<PreparedEvent> {
        self.event(Kind::SESSION_STATUS_CHANGE, None, &status_metadata(from, session, reason))
    }
}
