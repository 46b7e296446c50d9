//! Prompts and answers of agents, and what became of them.
//!
//! A turn that ends is noted in its own transaction; the runner captures it afterwards, from the log. What is captured has
//! an id that is made from its place in the log, so that capturing it twice is capturing it once.

mod due;
mod list;
mod mark;
mod settle;
mod step;
mod turn;

pub use due::{EndedTurn, EndedTurns, take};
pub use list::{ListInteractions, list, page_by_operator};
pub use mark::{Mark, list_unwritten, mark, mark_written, postpone_unwritten};
pub use settle::{Line, Lines, settle};
pub use store::{
    interaction::{InteractionRow, Stream},
    mark_due::MarkDue,
};
pub use turn::{PreviousOutcome, ReviewResult, Turn};

use domain::{
    Entropy, Timestamp,
    id::{InteractionId, SessionId, new_v7},
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

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
