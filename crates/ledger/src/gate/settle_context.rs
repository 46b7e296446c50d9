//! What the transaction that carries a decision out is given.

use super::request::AnswerDetails;
use crate::{commit::Minter, memory::Stamp};
use domain::Caller;

/// Who carries the decision out, and what the transaction needs for it.
pub(super) struct SettleContext {
    pub(super) caller: Caller,
    pub(super) minter: Minter,
    /// How an answer to a request was given; `None` if the decision says it all.
    pub(super) details: Option<AnswerDetails>,
    /// Time and ids of a version of a memory document; `None` where a question is answered.
    pub(super) stamp: Option<Stamp>,
}
