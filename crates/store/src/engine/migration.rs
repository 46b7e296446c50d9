//! The migrations inside the binary, as `build.rs` lists them.

use sqlx::{
    SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
};

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// Migrations of the ledger on SQLite.
pub(crate) fn sqlite() -> Migrator {
    migrator(SQLITE)
}

/// Migrations of the ledger and the ratings on PostgreSQL.
pub(crate) fn postgres() -> Migrator {
    migrator(POSTGRES)
}

/// Migrations of the ratings' own file on SQLite.
pub(crate) fn sqlite_feedback() -> Migrator {
    migrator(SQLITE_FEEDBACK)
}

fn migrator(files: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migration = |(version, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(files.iter().map(migration).collect())
}
