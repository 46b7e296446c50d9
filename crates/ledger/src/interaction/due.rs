//! Ended turns that are not captured yet.

use super::{
    forget::is_of,
    turn::{PreviousOutcome, Turn, last, staged},
};
use crate::{
    Ledger, Result,
    commit::has_answered,
    gate::reviewed,
    memory::Marks,
    relevance::{self, MemoryUses},
};
use chrono::TimeDelta;
use domain::{Timestamp, event::Known, session::Session};
use store::{
    Access, Conn,
    interaction::{DueRecord, any_due, is_judged, session_of},
};

/// Largest number of messages read per session. If there are more, the oldest are left out.
const MESSAGES_MAX: u32 = 200;
/// Largest number of tool calls and tool results read per session, beside the messages.
const CALLS_MAX: u32 = 200;
/// Largest number of errors and changes of status read per session, beside the messages.
const CHANGES_MAX: u32 = 200;

/// An ended turn, ready to be captured.
#[derive(Debug, Clone)]
pub struct EndedTurn {
    pub(super) row: DueRecord,
    /// The session as it is now.
    pub session: Session,
    /// The turn's answer and the decided proposals. Those that were captured before are left out.
    pub turns: Vec<Turn>,
    /// What the turn says about the previous answer.
    pub judged: Option<PreviousOutcome>,
    /// Uses of the memories that the turn had.
    pub(super) memory_uses: Option<MemoryUses>,
}

impl EndedTurn {
    /// When the turn ended (UTC).
    pub fn ended_at(&self) -> Timestamp {
        self.row.ended_at
    }
}

/// Turns taken for capture.
#[derive(Debug, Clone, Default)]
pub struct EndedTurns {
    /// Turns that can be captured.
    pub due: Vec<EndedTurn>,
    /// Number of turns that could not be read. They are tried again, and the log has the reasons.
    pub unreadable: u64,
}

impl EndedTurns {
    /// Returns whether no turn was taken.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.unreadable == 0
    }
}

/// Claims at most `max` turns of all workspaces for the duration of `lease`. A turn that is not recorded by then
/// is claimed again. Any number of servers may call this at once.
pub async fn claim_ended_turns(ledger: &Ledger, lease: TimeDelta, max: u32) -> Result<EndedTurns> {
    let now = ledger.now();
    if !ledger.store().read(Access::System, async move |conn| any_due(conn, now).await).await? {
        return Ok(EndedTurns::default());
    }
    let rows = ledger
        .write(Access::System, async move |tx| Ok(store::interaction::claim_due(tx, now, now + lease, max).await?));
    let mut taken = EndedTurns::default();
    for row in rows.await? {
        match gather(ledger.clone(), row).await {
            Ok(due) => taken.due.push(due),
            // An unreadable turn does not stop the others.
            Err(error) => {
                tracing::warn!(session = %row.session_id, %error, "a turn cannot be read; it is tried again");
                taken.unreadable += 1;
            }
        }
        // SQLite reads complete without yielding, so this lets other tasks run.
        tokio::task::yield_now().await;
    }
    Ok(taken)
}

/// Reads everything of one turn in one transaction, because on PostgreSQL each transaction needs round trips of
/// its own.
async fn gather(ledger: Ledger, row: DueRecord) -> Result<EndedTurn> {
    let keeper = ledger.clone();
    let read = ledger.store().read(Access::System, async move |conn| Ok(turn_of(conn, &keeper, row).await));
    read.await?
}

async fn turn_of(conn: &mut Conn<'_>, ledger: &Ledger, row: DueRecord) -> Result<EndedTurn> {
    let DueRecord { tenant_id, session_id, sequence, .. } = row;
    let session = store::session::find(conn, tenant_id, session_id).await?;
    let session = session.ok_or(crate::Error::NotFound("session"))?;
    if is_forgotten(conn, ledger, &session, sequence).await? {
        return Ok(EndedTurn { row, session, turns: Vec::new(), judged: None, memory_uses: None });
    }
    let mut events = Vec::new();
    let read = [
        ([Known::UserMessage.as_str(), Known::AgentMessage.as_str()], MESSAGES_MAX),
        ([Known::AgentToolCall.as_str(), Known::AgentToolResult.as_str()], CALLS_MAX),
        ([Known::SessionError.as_str(), Known::SessionStatusChange.as_str()], CHANGES_MAX),
    ];
    for (kinds, most) in read {
        let kinds = kinds.map(str::to_owned);
        events.extend(store::event::before(conn, tenant_id, session_id, sequence + 1, &kinds, most).await?.items);
    }
    events.sort_by_key(|event| event.sequence);
    let memory_uses = relevance::seen(conn, &session, sequence, &events).await?;
    let decided = reviewed(conn, tenant_id, session_id, row.ended_at).await?;
    let mut turns = staged(&session, &events, &decided);
    let (answer, judged) =
        if has_answered(row.status) { last(&session, &events, &decided, row.status) } else { (None, None) };
    let answer_id = answer.as_ref().map(|answer| answer.id);
    // If reviewers approved an output, that output is the answer and is already in `turns`.
    let is_approved = decided.iter().any(super::turn::is_the_answer);
    turns.extend(answer.filter(|_| !is_approved));
    let mut known = Vec::new();
    for turn in &turns {
        known.extend(session_of(conn, tenant_id, turn.id).await?.map(|_| turn.id));
    }
    turns.retain(|turn| !known.contains(&turn.id));
    // When an idle conversation ends, its last turn ends a second time. Its outcome was kept the first time.
    let mut judged = judged.filter(|_| answer_id.is_none_or(|id| !known.contains(&id)));
    if let Some(judged) = &mut judged {
        judged.is_judged = is_judged(conn, tenant_id, judged.id).await?;
    }
    Ok(EndedTurn { row, session, turns, judged, memory_uses })
}

/// Whether nothing of a session is captured: its training data is forgotten, or a person who is forgotten has written
/// in it.
async fn is_forgotten(conn: &mut Conn<'_>, ledger: &Ledger, session: &Session, upto: u64) -> Result<bool> {
    if store::interaction::forgotten::is_forgotten(conn, session.tenant_id, session.id).await? {
        return Ok(true);
    }
    let marks = Marks::read(conn, ledger, session.tenant_id).await?;
    Ok(!marks.is_empty() && is_of(conn, session, upto, |path| marks.has(path)).await?)
}
