//! Sending a message to the agent of any session: a conversation, or another session that its worker left idle.

use super::send_message::{Message, MessageReceipt, add, check_text, message_event, recorded};
use crate::{
    Error, Ledger, Result,
    commit::{Change, Minter, is_thread, state, write},
    guard::{Fields, require},
    visibility::{own_or_managed, require_visible},
};
use domain::{
    Scope,
    id::SessionId,
    limit::{SESSION_EVENTS_MAX, THREAD_MESSAGES_MAX},
    role::Permission,
    session::{Actor, Command, Report, Session, WaitsFor, decide},
};
use store::{PreparedEvent, WriteTx};

/// Records a message of a person, or of a program that is no worker, and queues the session. The next claim continues
/// it. While it is queued, further messages are recorded. A repeat with the same id returns the recorded message.
///
/// A conversation takes messages of its own person alone, as [`super::send_message()`] says. Another session takes them
/// of whoever started it, and of operators and admins.
///
/// # Errors
/// [`Error::Invalid`] for an empty text or one that is too long; [`Error::NotFound`] if there is no such session or the
/// caller cannot see it; [`Error::Forbidden`] for other callers; [`Error::Refused`] while it runs or waits for someone,
/// and after its end; [`Error::NotNow`] if no worker has claimed it, or if it waits for the sessions that it started;
/// [`Error::IdConflict`] if the id was used for something else; [`Error::LimitReached`] if it has the largest number of
/// messages.
pub async fn message_session(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    message: Message,
) -> Result<MessageReceipt> {
    require(scope, Permission::Converse)?;
    let mut fields = Fields::default();
    check_text(&mut fields, "text", &message.text);
    fields.check()?;
    let now = ledger.now();
    let event = message_event(Minter::new(ledger, now), &message, None);
    let change = Change {
        id,
        actor: Actor::Caller,
        command: Command::SendMessage,
        caller: scope.caller,
        reason: "a message arrived".into(),
        minter: Minter::new(ledger, now),
    };
    let scope = *scope;
    let receipt = ledger.write((&scope).into(), async move |tx| send(tx, &scope, change, message, event).await);
    receipt.await
}

async fn send(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    change: Change,
    message: Message,
    event: PreparedEvent,
) -> Result<MessageReceipt> {
    let found = store::session::find_locked(tx, scope.tenant_id, change.id).await?;
    let before = require_visible(tx.conn(), scope, found).await?;
    if is_thread(&before) {
        return add(tx, scope, change, message, event).await;
    }
    own_or_managed(scope, &before)?;
    let turns = store::thread::messages(tx.conn(), scope.tenant_id, before.id).await?;
    let event_id = event.id;
    if let Some(sequence) = recorded(tx, scope, &before, &message, &event).await? {
        return Ok(MessageReceipt { event_id, sequence, session: before, turns });
    }
    check_takes_messages(&before)?;
    let transition = decide(state(&before), change.actor, change.command)?;
    if turns >= THREAD_MESSAGES_MAX || before.head_sequence + 2 > SESSION_EVENTS_MAX {
        return Err(Error::LimitReached(format!("a session takes at most {THREAD_MESSAGES_MAX} messages")));
    }
    let sequence = before.head_sequence + 1;
    let session = write(tx, before, transition, change, vec![event], Report::default()).await?;
    Ok(MessageReceipt { event_id, sequence, session, turns: turns + 1 })
}

/// Refuses sessions that no message can continue, apart from what their status forbids.
fn check_takes_messages(session: &Session) -> Result<()> {
    if session.status().is_final() {
        return Ok(());
    }
    if session.attempt == 0 {
        let reason = "only a session that a worker has claimed takes messages; a coding agent takes them where it runs";
        return Err(Error::NotNow(reason));
    }
    if session.waits_for() == Some(WaitsFor::Children) {
        return Err(Error::NotNow("it continues when the sessions that it started have ended"));
    }
    Ok(())
}
