//! Pages: one query each. A page reads everything that it shows as of one moment, on one connection, and answers with
//! one struct.
//!
//! A page may use every other module of this crate; no other module uses a page. Ratings are not part of the moment:
//! they are kept apart from the log.

pub mod action;
pub mod chat;
mod choice;
pub mod entity;
pub mod find;
pub mod inbox;
mod names;
mod row;
pub mod session;
pub mod sessions;
pub mod today;

pub use choice::Choices;
pub use names::{People, people};
pub use row::Row;
