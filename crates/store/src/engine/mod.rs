//! What all tables share: connections to both engines, errors, migrations, and helpers for queries.

pub(crate) mod application_id;
mod conn;
mod error;
pub(crate) mod file;
pub(crate) mod migration;
#[cfg(feature = "planted-bugs")]
pub(crate) mod planted;
mod postgres;
mod record;
mod span;
mod sql;
mod sqlite;

pub use conn::{Access, Conn};
pub use error::{Error, Result};
pub use span::SPAN_TARGET;
pub use sql::Page;

pub(crate) use conn::{Mode, rows_of, run, spanned};
#[cfg(test)]
pub(crate) use error::tests::Coded;
pub(crate) use error::{is_constraint_violation, is_free, is_lock_failure, is_unique_violation, postgres_full};
pub(crate) use postgres::{
    POSTGRES_TRUSTED, in_transaction, lane_with_timeout, spawn_with_timeout, transaction_on, with_timeout,
};
pub(crate) use record::{from_postgres, from_sqlite, record};
pub(crate) use span::{LaneSpan, record_rows, statement_span, use_case_span};
pub(crate) use sql::{CHUNKS, Texts, chunks, contains, last_select, statements, values_statements};
pub(crate) use sqlite::{FromSqlite, ImmutableFile, SqliteConnection};

pub(crate) const SQL: &[Texts] = &[application_id::SQL, file::SQL, sqlite::SQL];
