//! Turns that ended and are not captured yet.

use super::{
    step::{ANSWER, CALL},
    turn::{PreviousOutcome, Turn, last, staged},
};
use crate::{Ledger, Result, SessionRecord, commit::has_answered, gate::reviewed};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    thread::{MESSAGE, REPLY},
};
use store::{
    Access, Conn,
    interaction::{DueRecord, any_due, is_judged, session_of},
};

/// Messages of a session that are looked at: with more, the oldest are as if they had not been said.
const MESSAGES_MAX: u32 = 200;
/// Calls of tools, and answers to them, that are looked at beside the messages.
const CALLS_MAX: u32 = 200;

/// A turn that ended, ready to be captured.
#[derive(Debug, Clone)]
pub struct EndedTurn {
    pub(super) row: DueRecord,
    /// The session, as it is now.
    pub session: SessionRecord,
    /// The turn's answer, and what was staged for reviewers and decided; what is captured already is not among them.
    pub turns: Vec<Turn>,
    /// What the turn says about the one before.
    pub judged: Option<PreviousOutcome>,
}

impl EndedTurn {
    /// When the turn ended.
    pub fn ended_at(&self) -> Timestamp {
        self.row.ended_at
    }
}

/// Turns that were taken.
#[derive(Debug, Clone, Default)]
pub struct EndedTurns {
    /// Those that can be captured.
    pub due: Vec<EndedTurn>,
    /// Those that could not be read; the reasons are in the log. They are tried again.
    pub unreadable: u64,
}

impl EndedTurns {
    /// Whether there was nothing to take.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty() && self.unreadable == 0
    }
}

/// Takes at most `max` turns of any workspace for the length of `lease`: what is not settled by then is taken again. Any
/// number of servers may ask at once.
pub async fn take(ledger: &Ledger, lease: TimeDelta, max: u32) -> Result<EndedTurns> {
    let now = ledger.now();
    if !ledger.store().read(Access::System, move |conn| Box::pin(any_due(conn, now))).await? {
        return Ok(EndedTurns::default());
    }
    let rows = ledger.store().write(Access::System, move |tx| {
        Box::pin(async move { Ok::<_, crate::Error>(store::interaction::take(tx, now, now + lease, max).await?) })
    });
    let mut taken = EndedTurns::default();
    for row in rows.await? {
        match gather(ledger, row).await {
            Ok(due) => taken.due.push(due),
            // One that cannot be read must not keep the others from being captured.
            Err(error) => {
                tracing::warn!(session = %row.session_id, %error, "a turn cannot be read; it is tried again");
                taken.unreadable += 1;
            }
        }
        // On SQLite a read is answered in place and gives nobody else a turn.
        tokio::task::yield_now().await;
    }
    Ok(taken)
}

/// Everything of one turn in one transaction: on PostgreSQL each has its own ways there and back.
async fn gather(ledger: &Ledger, row: DueRecord) -> Result<EndedTurn> {
    let read = ledger
        .store()
        .read(Access::System, move |conn| Box::pin(async move { Ok::<_, store::Error>(turn_of(conn, row).await) }));
    read.await?
}

async fn turn_of(conn: &mut Conn<'_>, row: DueRecord) -> Result<EndedTurn> {
    let DueRecord { tenant_id, session_id, sequence, .. } = row;
    let session = store::session::find(conn, tenant_id, session_id).await?;
    let session = session.ok_or(crate::Error::NotFound("session"))?;
    let mut events = Vec::new();
    for (kinds, most) in [([MESSAGE, REPLY], MESSAGES_MAX), ([CALL, ANSWER], CALLS_MAX)] {
        let kinds = kinds.map(str::to_owned);
        events.extend(store::event::before(conn, tenant_id, session_id, sequence + 1, &kinds, most).await?.items);
    }
    events.sort_by_key(|event| event.sequence);
    let decided = reviewed(conn, tenant_id, session_id, row.ended_at).await?;
    let mut turns = staged(&session, &events, &decided);
    let (answer, judged) =
        if has_answered(row.status) { last(&session, &events, &decided, row.status) } else { (None, None) };
    let answer_id = answer.as_ref().map(|answer| answer.id);
    // What reviewers approved is the answer, and is there already.
    let is_approved = decided.iter().any(super::turn::is_the_answer);
    turns.extend(answer.filter(|_| !is_approved));
    let mut known = Vec::new();
    for turn in &turns {
        known.extend(session_of(conn, tenant_id, turn.id).await?.map(|_| turn.id));
    }
    turns.retain(|turn| !known.contains(&turn.id));
    // The end of a conversation that rests repeats its last turn: what that says was kept with it.
    let mut judged = judged.filter(|_| answer_id.is_none_or(|id| !known.contains(&id)));
    if let Some(judged) = &mut judged {
        judged.is_judged = is_judged(conn, tenant_id, judged.id).await?;
    }
    Ok(EndedTurn { row, session, turns, judged })
}
