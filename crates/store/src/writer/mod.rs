//! The writer: merges writes that arrive at the same time into one transaction and answers after COMMIT.
//!
//! SQLite has one writer task. It owns the only write connection and runs every write as a job. PostgreSQL
//! has two lanes that merge appends and one lane that merges claims. Under low load the first lane takes
//! all appends; under high load the two lanes share them.

mod handle;
mod job;
mod postgres;
mod sqlite;

pub(crate) use handle::Writer;
pub use job::Stats;
pub(crate) use job::{Command, command};
