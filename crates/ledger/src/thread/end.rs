//! Ending a conversation, optionally with a rating and a summary.

use super::{own, summary::summarize};
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    feedback::{self, Rating},
    guard::require,
    thread::{Closing, Summary},
};
use domain::{
    Scope,
    event::kind::Completed,
    id::SessionId,
    role::Permission,
    session::{Actor, Command, Report, Session, Status, decide},
    session_feedback::{Label, Surface},
};
use store::WriteTx;

/// How a person ends a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// The person's rating; `None` if they gave none.
    pub feedback: Option<Label>,
    /// Where the person was asked for the rating.
    pub source: Surface,
    /// Whether to keep a summary.
    pub summary: bool,
}

/// A conversation that has ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The conversation's session, which has ended.
    pub session: Session,
    /// Number of messages of the person.
    pub turns: u64,
    /// The summary, if one was kept.
    pub summary: Option<Summary>,
}

/// Ends a conversation and keeps a summary in its session's result. An idle conversation is completed. Before
/// its first turn, or during a turn, it is abandoned. A conversation that has ended does not change.
///
/// The rating is stored separately, once per person. If it cannot be stored, this is logged and counted, and the
/// conversation ends anyway. If the database of ratings is locked, the rating is stored in the background.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such conversation, or if it is another person's incognito one;
/// [`crate::Error::Forbidden`] for any other conversation of another person.
pub async fn end(ledger: &Ledger, scope: &Scope, id: SessionId, ending: Ending) -> Result<Ended> {
    end_with(ledger, scope, id, ending, None).await
}

/// Does the same as [`end`], and keeps the agent's closing as part of the summary. The usage in
/// `closing` becomes the usage of the session. Text and usage of the closing are dropped if messages were written
/// after the agent was asked.
///
/// # Errors
/// Those of [`end`].
pub async fn end_with(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    ending: Ending,
    closing: Option<Closing>,
) -> Result<Ended> {
    require(scope, Permission::Converse)?;
    let change = Change {
        id,
        actor: Actor::Caller,
        command: Command::End,
        caller: scope.caller,
        reason: "ended by its person".into(),
        minter: Minter::new(ledger, ledger.now()),
    };
    let owner = *scope;
    // [`Ledger::write`] handles the ending at once, so sessions that wait for this one continue without waiting
    // for a sweep.
    let closing = closing.filter(|_| ending.summary);
    let ended = ledger.write(scope.into(), async move |tx| finish(tx, &owner, change, (ending.summary, closing)).await);
    let ended: Ended = ended.await?;
    if let Some(label) = ending.feedback {
        let rating = Rating { user: scope.acting_user(), label, source: ending.source, turns: ended.turns };
        feedback::store_ending(ledger, &ended.session, rating).await;
    }
    Ok(ended)
}

async fn finish(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    mut change: Change,
    (summary, closing): (bool, Option<Closing>),
) -> Result<Ended> {
    let found = store::session::find_locked(tx, scope.tenant_id, change.id).await?;
    let before = own(scope, found)?;
    let turns = store::thread::messages(tx.conn(), scope.tenant_id, before.id).await?;
    if before.status().is_final() {
        return Ok(Ended { turns, summary: Summary::of(&before), session: before });
    }
    let transition = decide(state(&before), change.actor, change.command)?;
    let mut summary =
        if summary { Some(summarize(tx.conn(), &before, turns, change.minter.at()).await?) } else { None };
    let mut usage = None;
    if let Some(closing) = closing {
        let is_about_all = closing.head_sequence == before.head_sequence;
        let words = if is_about_all { closing.words } else { Err("more was said while the agent was asked".into()) };
        summary = summary.map(|summary| summary.with_closing(words));
        // If there was a turn since then, usage is counted from the log only.
        usage = closing.usage.filter(|_| is_about_all);
    }
    let mut events = Vec::new();
    if transition.to() == Status::Completed {
        let completed = Completed { has_result: summary.is_some(), turns: Some(turns), ..Completed::default() };
        events.push(change.minter.event(&completed));
    }
    let result = summary.as_ref().map(Summary::to_result);
    let session = write(tx, before, transition, change, events, Report { result, usage, ..Report::default() }).await?;
    Ok(Ended { session, turns, summary })
}
