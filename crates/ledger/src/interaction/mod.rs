//! Interactions: prompts and answers of agents, with their feedback and outcome.
//!
//! The transaction that ends a turn enqueues it. The runner captures it afterwards, from the log. The id of an
//! interaction is derived from its position in the log, so capturing it twice has no further effect.

mod due;
mod earlier_export;
mod entry;
mod forget;
mod list;
mod mark;
mod record_turns;
mod step;
mod turn;

pub use due::{EndedTurn, EndedTurns, claim_ended_turns};
pub use earlier_export::EarlierExport;
pub use forget::{CapturedData, forget_session, may_forget, preview_forget_session};
pub(crate) use forget::{erase, find};
pub use list::{ListInteractions, list, page_by_operator};
pub use mark::{Mark, list_unwritten, mark, mark_written, postpone_unwritten};
pub use record_turns::{Line, Lines, record_turns};
pub use store::{
    interaction::mark_due::MarkDue,
    interaction::{InteractionRow, Stream},
};
pub use turn::{PreviousOutcome, ReviewResult, Turn};

use domain::{
    Entropy, Timestamp,
    id::{InteractionId, SessionId, new_v7},
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// An entropy source that returns a digest, so that an id made from it is deterministic.
struct Digested([u8; 32]);

impl Entropy for Digested {
    fn fill(&self, bytes: &mut [u8]) {
        for (to, from) in bytes.iter_mut().zip(self.0) {
            *to = from;
        }
    }
}

/// Returns an id that begins with the time and is otherwise derived from `parts`.
pub fn derived_id(at: Timestamp, parts: &[&[u8]]) -> Uuid {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    new_v7(at, &Digested(digest.finalize().into()))
}

/// Returns the id of the answer that ends with an event of a session.
fn answer_id(at: Timestamp, session_id: SessionId, sequence: u64) -> InteractionId {
    InteractionId(derived_id(at, &[b"answer", session_id.0.as_bytes(), &sequence.to_be_bytes()]))
}
