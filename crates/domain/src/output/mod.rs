//! Output contracts: what the sessions of an action must return, and the shapes of results.

mod contract;
mod shape;

pub use contract::{CRITERIA_SETS, Contract, read};
pub use shape::{FIELD_ENTITIES, FIELD_ID, Item, Output, shape};
