//! Prompts and answers of agents, and what became of them.
//!
//! A turn that ends is noted in its own transaction; the runner captures it afterwards, from the log. What is captured has
//! an id that is made from its place in the log, so that capturing it twice is capturing it once.

mod due;
mod list;
mod mark;
mod settle;
mod turn;

pub use due::{Due, Taken, take};
pub use list::{ListInteractions, list, page_by_operator};
pub use mark::{Mark, filed, mark, postpone_unfiled, unfiled};
pub use settle::{Line, Lines, settle};
pub use store::{
    interaction::{InteractionRow, Stream},
    mark_due::MarkDue,
};
pub use turn::{Judged, Judgement, Said, Speaker, Turn};

use crate::{Result, SessionRecord};
use domain::{
    Entropy, Timestamp,
    id::{InteractionId, SessionId, new_v7},
    session::{Command, Status, Type},
    thread::{REPLY, is_incognito},
};
use sha2::{Digest as _, Sha256};
use store::{WriteTx, interaction::DueRecord};
use uuid::Uuid;

/// Notes that a turn of an agent ended, if it did and may be kept: incognito conversations are not. One that its person
/// interrupted has no answer. Where nobody said anything and nothing was staged there is nothing to capture, and nothing is
/// noted.
pub(crate) async fn note(
    tx: &mut WriteTx<'_>,
    session: &SessionRecord,
    before: Status,
    command: Command,
    now: Timestamp,
) -> Result<()> {
    // What rests because it waits for others has not answered yet.
    let rests = session.status == Status::Idle && session.waits_for.is_none();
    let ended = session.status != before && (session.status.is_final() || rests);
    let by_agent = session.session_type == Type::Agent && (session.attempt > 0 || turn::is_reported(session));
    if !ended || !by_agent || command == Command::Interrupt || is_incognito(&session.metadata) {
        return Ok(());
    }
    let (tenant_id, session_id, sequence) = (session.tenant_id, session.id, session.head_sequence);
    let due = DueRecord { tenant_id, session_id, sequence, status: session.status, ended_at: now };
    let has_answered = has_answered(session.status);
    if has_answered && session.result.is_some() && !turn::is_talk(session) {
        return Ok(store::interaction::push(tx, due).await?);
    }
    Ok(store::interaction::push_if_said(tx, due, has_answered.then_some(REPLY)).await?)
}

/// Whether what an agent said until then is an answer. Of work that failed or was stopped only what reviewers decided counts.
fn has_answered(status: Status) -> bool {
    matches!(status, Status::Completed | Status::Idle)
}

/// Bytes that are always the same for the same thing.
struct Digested([u8; 32]);

impl Entropy for Digested {
    fn fill(&self, bytes: &mut [u8]) {
        for (to, from) in bytes.iter_mut().zip(self.0) {
            *to = from;
        }
    }
}

/// An id that begins with the time and is made from `parts`.
pub fn derived_id(at: Timestamp, parts: &[&[u8]]) -> Uuid {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    new_v7(at, &Digested(digest.finalize().into()))
}

/// The id of the answer that ends with an event of a session.
fn answer_id(at: Timestamp, session_id: SessionId, sequence: u64) -> InteractionId {
    InteractionId(derived_id(at, &[b"answer", session_id.0.as_bytes(), &sequence.to_be_bytes()]))
}
