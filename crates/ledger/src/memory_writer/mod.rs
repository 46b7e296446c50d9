//! The writer pass: reads what an agent's conversations hold that is not summarised, and writes what the writer's model
//! proposes of it. The model is asked outside of this crate.
//!
//! Each session has a watermark, and a run moves the watermarks of its window in the transaction that writes its
//! proposals. So a turn is covered by one successful run, wherever a server dies. One server at a time works for an
//! agent: it holds a lease with its own token, and every write checks the token.
//!
//! A run that fails leaves its sessions apart, so that the agent's other sessions do not wait for them. They are tried
//! again in halves of their window, until the session that makes it fail is alone.

mod budget;
mod documents;
mod due;
mod finish;
mod flush;
mod known;
mod stalled;
mod track;
mod window;

pub use budget::{FlushWait, spent_today, waits};
pub use documents::{note_named, read_more};
pub use due::{WriterTerms, take};
pub use finish::{Finished, ModelUsage, RunFailure, fail, finish, hold, release};
pub(crate) use flush::RUNS_MAX;
pub use flush::{Flushed, flush, read_since, runs, status};
pub use known::redacted;
pub(crate) use stalled::{stalled_of_on, stalled_on};
pub use store::memory_writer::{RunRecord, RunTotals, Spent, StalledRecord, WriterRecord};
pub use window::{Range, RunWindow};

/// Makes the delimiter of one run's prompt.
pub fn delimiter(ledger: &crate::Ledger) -> domain::untrusted::Delimiter {
    domain::untrusted::Delimiter::new(ledger.entropy())
}

/// Most sessions of one run.
const SESSIONS_MAX: u32 = 50;
