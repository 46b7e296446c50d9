//! What the database engine finds wrong in a file, and the sessions of all workspaces. Lists are paged, so that memory
//! use stays constant.

use crate::engine::{Conn, Result, SqliteConnection, run, statements};
use domain::id::{SessionId, TenantId};
use std::ops::ControlFlow;
use uuid::Uuid;

statements! {
    // In one statement, because a sweep enters sessions meanwhile.
    const SESSIONS: &str = "SELECT s.tenant_id, s.id, r.ordinal, u.session_id FROM sessions s \
         LEFT JOIN session_roll r ON r.tenant_id = s.tenant_id AND r.session_id = s.id \
         LEFT JOIN session_unrolled u ON u.tenant_id = s.tenant_id AND u.session_id = s.id \
         WHERE (s.tenant_id, s.id) > ($1, $2) ORDER BY s.tenant_id, s.id LIMIT $3";

    // The most that are reported.
    const PAGES_SQLITE: &str = "PRAGMA integrity_check(20)";
    const KEYS_SQLITE: &str = "PRAGMA foreign_key_check";
    // Makes the connection read the structure of the full-text index again. The check of FTS5 goes by what the
    // connection remembers of it, and reports damage where another connection has changed the index since (SQLite
    // 3.51).
    const INDEX_SQLITE: &str = "SELECT rowid FROM memory_search LIMIT 1";
}

/// Most rows that are reported because the row they refer to is missing.
const KEYS_MAX: usize = 20;

/// Returns what SQLite itself finds wrong in its file: damaged pages, indexes that differ from their tables, rows that
/// break constraints, rows whose foreign keys lead nowhere. On PostgreSQL nothing is checked.
pub async fn file(conn: &mut Conn<'_>) -> Result<Vec<String>> {
    match conn {
        Conn::Sqlite(c) => {
            // If it fails, the check says why.
            drop(c.fetch_optional::<(i64,)>(INDEX_SQLITE, &[]));
            check_file(c)
        }
        Conn::Postgres(_) => Ok(Vec::new()),
    }
}

/// Returns what SQLite finds wrong in the file of this connection.
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

/// A session, and whether its workspace's roll has it.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// Workspace of the session.
    pub tenant_id: TenantId,
    /// Session that the check found.
    pub session_id: SessionId,
    /// Whether it is in the roll, or waits to be entered.
    pub is_known: bool,
}

/// Sessions of every workspace in key order, after `after`.
pub async fn sessions(conn: &mut Conn<'_>, after: Option<(TenantId, SessionId)>, limit: u32) -> Result<Vec<Listed>> {
    type Row = (Uuid, Uuid, Option<i64>, Option<Uuid>);
    let (tenant, session) = after.map(|(tenant, session)| (tenant.0, session.0)).unwrap_or_default();
    let rows = run!(conn, fetch_all Row, SESSIONS, tenant, session, i64::from(limit))?;
    Ok(rows
        .into_iter()
        .map(|(tenant, id, place, waiting)| Listed {
            tenant_id: TenantId(tenant),
            session_id: SessionId(id),
            is_known: place.is_some() || waiting.is_some(),
        })
        .collect())
}
