//! Pages: one query for each page. It reads everything that the page shows in one snapshot, on one connection,
//! and returns one struct.
//!
//! A page may use all other modules of this crate; no other module uses a page. Ratings are not part of the
//! snapshot, because they are stored apart from the log.

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
