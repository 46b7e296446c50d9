//! Ratings of ended sessions, stored apart from all other data: on SQLite in a separate file beside the
//! ledger's, on PostgreSQL in a separate schema. Ratings of incognito conversations are only in memory.
//!
//! A rating contains no workspace and no free text. Its session is named by a MAC that only the instance's
//! key can compute.

mod backend;
mod file;
mod record;
mod sql;

pub use backend::FeedbackBackend;
pub(crate) use file::{back_up, check_file};
pub use record::FeedbackRecord;
pub use sql::statements;
