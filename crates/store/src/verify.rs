//! What a verification reads across workspaces. Pages, so that memory stays flat.

pub(crate) mod values;

pub use values::{unknown, unknown_of_events};

use crate::{
    conn::{Conn, run},
    error::Result,
    sqlite::SqliteConnection,
};
use domain::id::{SessionId, TenantId};
use std::ops::ControlFlow;
use uuid::Uuid;

const SESSIONS: &str = "SELECT tenant_id, id FROM sessions \
     WHERE tenant_id > $1 OR (tenant_id = $1 AND id > $2) OR $1 IS NULL ORDER BY tenant_id, id LIMIT $3";

// The most that are reported.
const PAGES_SQLITE: &str = "PRAGMA integrity_check(20)";
const KEYS_SQLITE: &str = "PRAGMA foreign_key_check";

pub(crate) const SQL: &[(&str, &str)] = &[("verify::SESSIONS", SESSIONS)];
pub(crate) const SQLITE_SQL: &[(&str, &str)] =
    &[("verify::PAGES_SQLITE", PAGES_SQLITE), ("verify::KEYS_SQLITE", KEYS_SQLITE)];

/// Rows without the row that they refer to that are reported.
const KEYS_MAX: usize = 20;

/// What SQLite itself finds wrong in its file: damaged pages, indexes that differ from their tables, constraints that rows
/// break, rows whose foreign keys lead nowhere. On PostgreSQL nothing is asked.
pub async fn file(conn: &mut Conn<'_>) -> Result<Vec<String>> {
    match conn {
        Conn::Sqlite(c) => check_file(c),
        Conn::Postgres(_) => Ok(Vec::new()),
    }
}

/// The same of any file.
pub(crate) fn check_file(c: &mut SqliteConnection) -> Result<Vec<String>> {
    type Text = (String,);
    type Lost = (String, Option<i64>, String);
    let mut problems: Vec<String> = c.fetch_all::<Text>(PAGES_SQLITE, &[])?.into_iter().map(|(text,)| text).collect();
    if problems == ["ok"] {
        problems.clear();
    }
    c.each::<Lost>(KEYS_SQLITE, &[], |(table, row, parent)| {
        let row = row.map(|row| format!(" row {row}")).unwrap_or_default();
        problems.push(format!("{table}{row} refers to a row of {parent} that is not there"));
        if problems.len() < KEYS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(problems)
}

/// Sessions of every workspace in key order, after `after`.
pub async fn sessions(
    conn: &mut Conn<'_>,
    after: Option<(TenantId, SessionId)>,
    limit: u32,
) -> Result<Vec<(TenantId, SessionId)>> {
    let (tenant, session) = (after.map(|(tenant, _)| tenant.0), after.map(|(_, session)| session.0));
    let rows = run!(conn, fetch_all(Uuid, Uuid), SESSIONS, tenant, session, i64::from(limit))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), SessionId(id))).collect())
}
