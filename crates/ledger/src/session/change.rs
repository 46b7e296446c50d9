//! What every status change does: lock, decide, write the row and its events in one transaction.

use super::{bound::status_metadata, private::held};
use crate::{
    Error, Ledger, Result, SessionRecord, failure,
    gate::withdraw,
    interaction,
    outbox::{MessageIds, announce_end},
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    chain::body_digest,
    event::{EventRole, Kind},
    id::{EventId, SessionId},
    limit::ATTEMPTS_MAX,
    session::{Actor, Command, State, Status, TimeLimits, Transition, decide, graph::takes_its_children_along},
};
use serde_json::{Value, json};
use store::{PreparedEvent, WriteTx};

/// An event that the server itself writes. Ids are made before the transaction, because the transaction
/// has no randomness of its own.
#[derive(Clone)]
pub(crate) struct Minter {
    at: Timestamp,
    ids: Vec<EventId>,
    messages: MessageIds,
}

impl Minter {
    /// Ids for at most `count` events.
    pub(crate) fn new(ledger: &Ledger, at: Timestamp, count: usize) -> Self {
        Self { at, ids: (0..count).map(|_| ledger.event_id(at)).collect(), messages: MessageIds::new(ledger, at) }
    }

    /// The same, where the first event has an id already.
    pub(crate) fn beginning_with(mut self, id: Option<EventId>) -> Self {
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

/// A command on one session, ready to be decided under the row's lock.
pub(crate) struct Change {
    pub(crate) id: SessionId,
    pub(crate) actor: Actor,
    pub(crate) command: Command,
    pub(crate) caller: Caller,
    pub(crate) reason: String,
    pub(crate) minter: Minter,
}

impl Change {
    /// The attempt a worker acts under.
    fn attempt(&self) -> Option<u32> {
        match self.actor {
            Actor::Worker { attempt } => Some(attempt),
            _ => None,
        }
    }
}

/// The session as the status machine sees it.
pub(crate) fn state(session: &SessionRecord) -> State {
    State {
        status: session.status,
        session_type: session.session_type,
        attempt: session.attempt,
        attempts_max: session.attempts_max,
    }
}

/// Appends events that the server writes to a session whose status does not change. The row is locked.
pub(crate) async fn note_down(
    tx: &mut WriteTx<'_>,
    before: SessionRecord,
    events: Vec<PreparedEvent>,
    caller: Caller,
    now: Timestamp,
) -> Result<SessionRecord> {
    let mut session = before.clone();
    store::session::save(tx, &before, &mut session, &events, None, &caller.to_string(), now).await?;
    Ok(session)
}

/// When a status that begins now runs out.
pub(crate) fn deadline(limits: &TimeLimits, status: Status, now: Timestamp) -> Option<Timestamp> {
    limits.of(status).map(|seconds| now + TimeDelta::seconds(i64::from(seconds)))
}

/// Writes a decided change: the row by compare-and-set, `events` and the status change.
///
/// `touch` sets what only this command knows (result, error, lease).
pub(crate) async fn write(
    tx: &mut WriteTx<'_>,
    before: SessionRecord,
    transition: Transition,
    mut change: Change,
    mut events: Vec<PreparedEvent>,
    touch: impl FnOnce(&mut SessionRecord) + Send,
) -> Result<SessionRecord> {
    let now = change.minter.at();
    withdraw(tx, &before, &transition, now).await?;
    let attempt = change.attempt().or((transition.attempt != before.attempt).then_some(transition.attempt));
    let mut session = before.clone();
    session.status = transition.to;
    session.attempt = transition.attempt;
    session.end_reason = transition.end_reason;
    if transition.to != Status::Running {
        session.lease_expires_at = None;
        session.lease_seconds = None;
    }
    if transition.to != before.status {
        session.waits_for = None;
    }
    match transition.to {
        Status::Pending => session.queued_at = Some(now),
        Status::Running => session.started_at = session.started_at.or(Some(now)),
        to if to.is_final() => session.completed_at = Some(now),
        _ => {}
    }
    if matches!(change.command, Command::Say | Command::Resume) {
        // Attempts are counted from the last time that something arrived: what came before does not use them up.
        session.attempts_max = session.attempt.saturating_add(ATTEMPTS_MAX);
    }
    touch(&mut session);
    let mut ended_by = None;
    if transition.to != before.status {
        session.deadline_at = deadline(&session.time_limits, transition.to, now);
        let told = change.minter.status_reached(before.status, &session, &change.reason)?;
        ended_by = Some(told.id);
        events.push(told);
    }
    let actor = change.caller.to_string();
    store::session::save(tx, &before, &mut session, &events, attempt, &actor, now).await?;
    interaction::note(tx, &session, before.status, change.command, now).await?;
    if let Some(event_id) = ended_by {
        failure::record(tx, &session, event_id, &change.reason, now).await?;
        note_ending(tx, &session, now).await?;
    }
    if session.status.is_final() && !before.status.is_final() {
        announce_end(tx, &session, change.minter.messages()).await?;
    }
    Ok(session)
}

/// Notes that a session has just ended, where anybody may wait for that; most sessions cost nothing here.
pub(crate) async fn note_ending(tx: &mut WriteTx<'_>, session: &SessionRecord, now: Timestamp) -> Result<()> {
    let along = session.end_reason.is_some_and(takes_its_children_along);
    if session.status.is_final() && (session.awaited || session.parent_id.is_some() || along) {
        store::session::graph::note_ending(tx, session, along, now).await?;
    }
    Ok(())
}

/// Locks, decides and writes a change that needs nothing else. The session must exist in the scope.
pub(crate) async fn apply(
    ledger: &Ledger,
    scope: &Scope,
    change: Change,
    events: impl FnOnce(&mut Minter) -> Result<Vec<PreparedEvent>> + Send + 'static,
    touch: impl FnOnce(&mut SessionRecord) + Send + 'static,
) -> Result<SessionRecord> {
    let caller = *scope;
    ledger
        .write(scope.into(), move |tx| {
            Box::pin(async move {
                let mut change = change;
                let before = store::session::find_locked(tx, caller.tenant_id, change.id).await?;
                let before = held(tx.conn(), &caller, before).await?;
                let transition = decide(state(&before), change.actor, change.command)?;
                let events = events(&mut change.minter)?;
                write(tx, before, transition, change, events, touch).await
            })
        })
        .await
}
