//! Pages: one query for each page. It reads everything that the page shows in one snapshot, on one connection,
//! and returns one struct.
//!
//! A page may use all other modules of this crate; no other module uses a page. Three things are not part of the
//! snapshot. Ratings are stored apart from the log. A person's sign-ins reach across workspaces. The figures of a
//! window beyond the first rows would hold a snapshot for too long.

pub mod action;
pub mod answer;
pub mod audit;
pub mod chat;
mod choice;
mod continuation;
pub mod criteria_set;
pub mod entity;
pub mod entity_type;
pub mod failure;
pub mod find;
pub mod hand_over;
pub mod import;
pub mod inbox;
pub mod inbox_review;
pub mod insight;
pub mod member;
pub mod memory;
pub mod memory_document;
pub mod memory_home;
pub mod memory_insight;
pub mod memory_usefulness;
mod names;
mod promotion;
mod proposed_values;
pub mod response;
mod row;
pub mod rule;
pub mod session;
pub mod session_memory;
pub mod sessions;
pub mod settings;
pub mod share_link;
pub mod today;
pub mod tool;
pub mod tool_link;
mod tool_pair;
pub mod tool_result;
pub mod view;
pub mod working_on;

pub use choice::Choices;
pub use continuation::Continuation;
pub use names::{People, people};
pub use promotion::{PromotionOffer, PromotionState};
pub use row::Row;
