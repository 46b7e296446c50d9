//! What the transaction that carries a decision out is given.

use super::request::Given;
use crate::{commit::EventFactory, memory::Stamp};
use domain::{Caller, id::EntityId};

/// Who carries the decision out, and the ids that the transaction needs but cannot create.
pub(super) struct SettleContext {
    pub(super) caller: Caller,
    pub(super) factory: EventFactory,
    pub(super) entity_ids: Vec<EntityId>,
    /// How an answer to a request was given; `None` if the decision says it all.
    pub(super) given: Option<Given>,
    /// Time and ids of a version of a memory document; `None` where a question is answered.
    pub(super) stamp: Option<Stamp>,
}
