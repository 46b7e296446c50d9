//! Output contracts: what the sessions of an action have to return, and the shapes that a result can have.

mod contract;
mod shape;

pub use contract::{CRITERIA_SETS, Contract, read};
pub use shape::{FIELD_ENTITIES, FIELD_ID, Item, Output, shape};
