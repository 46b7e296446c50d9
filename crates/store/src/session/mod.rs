//! Sessions: the rows of `sessions`, their states, and how sessions depend on each other.

mod agents;
mod claim;
mod completion;
mod creation;
mod due;
mod find;
mod first_claim;
pub mod graph;
mod label;
mod list;
mod matching;
mod of_entity;
mod row;
mod sorted;
mod state;
mod write;

pub use agents::{OpenWork, named_agents, open_work};
pub use claim::{Claimable, claimable};
pub use completion::{DecideCompletion, PlainCompletion, SeenContract, SeenSession};
pub use creation::PlainCreation;
pub use due::{DueSession, deadlines, extend_lease, leases_lost, overdue, rearm_leases};
pub use find::{depth, find, find_by_idempotency_key, find_locked, lock_idempotency_key};
pub use first_claim::{ClaimTerms, FirstClaim};
pub use label::relabel;
pub use list::{
    Filter, among, find_many, last_looked, list, list_by_ids, list_on_channel, newest_continuation, newest_of_action,
    newest_of_actions,
};
pub use matching::{Among, Bounds, Contains, Matching, UNASSIGNED, Worded};
pub use of_entity::{OfEntity, count_of_entities, list_of_entity};
pub use sorted::{Place, first_looked, list_oldest, sorted};
pub use write::{Idempotency, Inserted, begin_run, insert, retitle, save};

pub(crate) use completion::complete_together;
pub(crate) use creation::create_together;
pub(crate) use due::hex_list;
pub(crate) use matching::{group_values, groups, has, is_among, values};
use row::record;
pub(crate) use row::{Row, session_select};
pub(crate) use write::made;

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[
    agents::SQL,
    claim::SQL,
    completion::SQL,
    creation::SQL,
    due::SQL,
    find::SQL,
    first_claim::SQL,
    graph::SQL,
    label::SQL,
    list::SQL,
    of_entity::SQL,
    sorted::SQL,
    write::SQL,
];
