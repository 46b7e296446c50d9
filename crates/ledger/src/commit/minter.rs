//! Makes ids, and the events that the server itself writes, inside a transaction.

use super::bound_row::{open_digest_member, status_change};
use crate::{
    Ledger, Result,
    instance_key::{InstanceKey, SealNonce},
    outbox::MessageIds,
};
use domain::{
    Entropy, Timestamp,
    chain::body_digest,
    event::{
        Kind, Known,
        kind::{Created, OfKind, StatusChange},
    },
    id::{EntityId, EventId, SessionId},
    session::{Session, Status},
};
use std::sync::Arc;
use store::PreparedEvent;

/// The time of a command, and a source of new ids for its transaction.
#[derive(Clone)]
pub(crate) struct Minter {
    at: Timestamp,
    entropy: Arc<dyn Entropy>,
    first_event: Option<EventId>,
    messages: MessageIds,
}

impl Minter {
    /// Creates a minter for a command at this time.
    pub(crate) fn new(ledger: &Ledger, at: Timestamp) -> Self {
        Self { at, entropy: ledger.shared_entropy(), first_event: None, messages: MessageIds::new(ledger, at) }
    }

    /// Gives the first event this id.
    pub(crate) fn with_first_event(mut self, id: Option<EventId>) -> Self {
        self.first_event = id;
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

    /// Returns a new id of an entity.
    pub(crate) fn entity_id(&self) -> EntityId {
        EntityId::new(self.at, &*self.entropy)
    }

    /// Returns a new id of a session.
    pub(crate) fn session_id(&self) -> SessionId {
        SessionId::new(self.at, &*self.entropy)
    }

    /// Returns a seed of random numbers.
    pub(crate) fn seed(&self) -> u64 {
        let mut bytes = [0; 8];
        self.entropy.fill(&mut bytes);
        u64::from_be_bytes(bytes)
    }

    /// Returns a number to encrypt one text with.
    pub(crate) fn nonce(&self) -> SealNonce {
        InstanceKey::nonce(&*self.entropy)
    }

    /// Creates an event. Its role is that of its kind.
    pub(crate) fn event<P: OfKind>(&mut self, payload: &P) -> PreparedEvent {
        self.recorded(P::KIND, payload.content(), payload.metadata().to_string())
    }

    /// Creates an event from content and metadata that are JSON already.
    pub(crate) fn recorded(&mut self, kind: Known, content: String, metadata: String) -> PreparedEvent {
        PreparedEvent {
            id: self.first_event.take().unwrap_or_else(|| EventId::new(self.at, &*self.entropy)),
            client_made: false,
            role: kind.role(),
            kind: Kind::from(kind),
            body: body_digest(&content, &metadata),
            content,
            metadata,
            thread_id: None,
            external_event_id: None,
            at: None,
        }
    }

    /// Creates the event that begins a session's log. It contains the digest of what the session is created with.
    pub(crate) fn session_created(&mut self, session: &Session, created: Created) -> Result<PreparedEvent> {
        Ok(self.event(&Created { open_digest: Some(open_digest_member(session)?), ..created }))
    }

    /// Creates the change to a status that is not final.
    pub(crate) fn status_change(&mut self, from: Option<Status>, to: Status, reason: &str) -> PreparedEvent {
        let reason = reason.to_owned();
        self.event(&StatusChange { from, to, reason, row_digest: None, open_digest: None, usage_digest: None })
    }

    /// Creates the change to the status that the row has now. If that status is final, the event contains the
    /// digest of the row, which must not change afterwards.
    pub(crate) fn status_reached(&mut self, from: Status, session: &Session, reason: &str) -> PreparedEvent {
        self.event(&status_change(from, session, reason))
    }

    /// Like [`Minter::status_reached`], of a session that gets a new title with this change.
    pub(crate) fn status_reached_with_title(
        &mut self,
        from: Status,
        session: &Session,
        reason: &str,
    ) -> Result<PreparedEvent> {
        let open_digest = Some(open_digest_member(session)?);
        Ok(self.event(&StatusChange { open_digest, ..status_change(from, session, reason) }))
    }
}
