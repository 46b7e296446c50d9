//! Writes the decided change of one session: the row, its events and the effects in one transaction.

use super::{
    effect::{Cause, Effect, carry_out, effects},
    minter::Minter,
    turn::Capture,
};
use crate::{Error, Result};
use domain::{
    Caller, Timestamp,
    id::SessionId,
    limit::ATTEMPTS_MAX,
    session::{Actor, Command, Next, Position, Report, Session, Status, Transition},
    tool::run::attempts_allowed,
};
use store::{
    PreparedEvent, WriteTx,
    session::{Inserted, PlainCompletion},
};

/// A command on one session, decided while the row is locked.
pub(crate) struct Change {
    pub(crate) id: SessionId,
    pub(crate) actor: Actor,
    pub(crate) command: Command,
    pub(crate) caller: Caller,
    pub(crate) reason: String,
    pub(crate) minter: Minter,
}

impl Change {
    /// The attempt of the worker that acts; `None` for other actors.
    fn attempt(&self) -> Option<u32> {
        match self.actor {
            Actor::Worker { attempt } => Some(attempt),
            Actor::Caller | Actor::Server => None,
        }
    }
}

/// Returns the session's position in the status machine.
pub(crate) fn state(session: &Session) -> Position {
    session.position()
}

/// Appends events written by the server to a session whose status does not change. The caller holds the row's
/// lock.
pub(crate) async fn append_server_events(
    tx: &mut WriteTx<'_>,
    before: Session,
    events: Vec<PreparedEvent>,
    caller: Caller,
    now: Timestamp,
) -> Result<Session> {
    let mut session = before.clone();
    store::session::save(tx, &before, &mut session, &events, None, &caller.to_string(), now).await?;
    Ok(session)
}

/// Writes a decided change: the row by compare-and-set, `events`, the status change and its [`effects`].
/// `report` holds what the command adds to the row, such as a result, an error or a lease.
pub(crate) async fn write(
    tx: &mut WriteTx<'_>,
    before: Session,
    transition: Transition,
    change: Change,
    events: Vec<PreparedEvent>,
    report: Report,
) -> Result<Session> {
    write_with_title(tx, before, (transition, None), change, events, report).await
}

/// Like [`write`], with a new title for the session. The title is written only with a change of status, whose event
/// binds it.
pub(crate) async fn write_with_title(
    tx: &mut WriteTx<'_>,
    before: Session,
    (transition, title): (Transition, Option<String>),
    mut change: Change,
    mut events: Vec<PreparedEvent>,
    report: Report,
) -> Result<Session> {
    let now = change.minter.at();
    let attempt = change.attempt().or((transition.attempt != before.attempt).then_some(transition.attempt));
    let mut session = entered(&before, transition, change.command, report, now);
    let mut changed_by = None;
    if session.status() != before.status() {
        let event = match title {
            Some(title) => {
                store::session::retitle(tx, session.tenant_id, session.id, &title).await?;
                session.title = title;
                change.minter.status_reached_with_title(before.status(), &session, &change.reason)?
            }
            None => change.minter.status_reached(before.status(), &session, &change.reason),
        };
        changed_by = Some(event.id);
        events.push(event);
    }
    let actor = change.caller.to_string();
    store::session::save(tx, &before, &mut session, &events, attempt, &actor, now).await?;
    if let Some(changed_by) = changed_by {
        let cause = Cause { command: change.command, reason: &change.reason };
        let effects = effects(before.status(), &session, cause, now);
        carry_out(tx, &session, effects, changed_by, &change.minter).await?;
    }
    Ok(session)
}

/// Inserts a session that completes in the transaction in which it begins: one row in its final state, `events`, the
/// status change and its [`effects`]. `before` is the session as it would be stored without the change.
///
/// # Errors
/// [`Error::Internal`] if the session exists.
pub(crate) async fn insert_completed(
    tx: &mut WriteTx<'_>,
    before: Session,
    transition: Transition,
    mut change: Change,
    mut events: Vec<PreparedEvent>,
    report: Report,
) -> Result<Session> {
    let now = change.minter.at();
    let mut session = entered(&before, transition, change.command, report, now);
    let event = change.minter.status_reached(before.status(), &session, &change.reason);
    let changed_by = event.id;
    events.push(event);
    match store::session::insert(tx, &mut session, None, &events).await? {
        Inserted::New => {}
        Inserted::KeyTaken | Inserted::AlreadyWorking => {
            return Err(Error::Internal("a session that completes at once met another session".into()));
        }
    }
    let cause = Cause { command: change.command, reason: &change.reason };
    let effects = effects(before.status(), &session, cause, now);
    carry_out(tx, &session, effects, changed_by, &change.minter).await?;
    Ok(session)
}

/// Decides a change whose effects are at most the capture of a turn and messages to webhooks. Returns `None` if it has
/// other effects. The caller writes it, and sees to it that there is no webhook.
pub(crate) fn completed_alone(
    before: Session,
    transition: Transition,
    mut change: Change,
    mut events: Vec<PreparedEvent>,
    report: Report,
) -> Option<PlainCompletion> {
    let at = change.minter.at();
    let session = entered(&before, transition, change.command, report, at);
    events.push(change.minter.status_reached(before.status(), &session, &change.reason));
    let cause = Cause { command: change.command, reason: &change.reason };
    let mut is_captured = false;
    for effect in effects(before.status(), &session, cause, at) {
        match effect {
            Effect::CaptureTurn(_, Capture::Always) => is_captured = true,
            Effect::AnnounceEnd => {}
            _ => return None,
        }
    }
    Some(PlainCompletion { session, events, is_captured, actor: change.caller.to_string(), at })
}

/// Returns the session as it is after the change.
fn entered(before: &Session, transition: Transition, command: Command, report: Report, now: Timestamp) -> Session {
    let mut session = before.clone();
    session.enter(transition, report, now);
    match transition.next {
        // Another message to a queued conversation leaves its place in the queue.
        Next::Pending if before.status() != Status::Pending => session.queued_at = Some(now),
        Next::Running => session.started_at = session.started_at.or(Some(now)),
        Next::Pending | Next::WaitingHuman | Next::AwaitingTool | Next::Idle | Next::Ended(_) => {}
    }
    if matches!(command, Command::SendMessage | Command::Resume) {
        // New input allows as many more attempts as at first, whatever was used before.
        let allowed = attempts_allowed(&session).unwrap_or(ATTEMPTS_MAX);
        session.attempts_max = session.attempt.saturating_add(allowed);
    }
    session
}
