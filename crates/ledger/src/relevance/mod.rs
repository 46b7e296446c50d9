//! Ratings of the memories that an agent was given, the uses that the server sees, and the rows from which a ranker
//! learns.
//!
//! A claim or a hook that gives memories to an agent records every candidate ([`record_on`]). Ratings arrive with
//! hooks, in answers and through [`rate`]. Each rating counts or is refused by itself. Nothing is recorded of private
//! and incognito sessions, and of sessions whose training data is forgotten.

mod continuity;
mod list;
mod propose;
mod rate;
mod record;
mod rows;
mod uses;

pub use continuity::{Unscored, lease_scoring, next_unscored, postpone_score, save_score};
pub use list::list;
pub(crate) use list::{list_on, texts_on};
pub(crate) use rate::{AGENT, follow_up, rate_on};
pub use rate::{RatedMemory, Report, may_rate, rate};
pub(crate) use record::{USES_DAYS, record_on};
pub use rows::{Place, rows_by_operator, weights};
pub use store::relevance::SessionMemoryRecord;
pub(crate) use uses::{MemoryUses, save_on, seen};
