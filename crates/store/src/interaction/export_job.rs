//! Rows of `export_jobs`.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{Timestamp, clock::to_micros, id::TenantId, interaction::ExportState};
use uuid::Uuid;

statements! {
    const INSERT: &str = "INSERT INTO export_jobs (tenant_id, id, asked_by, server, options, state, begun_at) \
         VALUES ($1, $2, $3, $4, $5, 'running', $6)";
    // Ids begin with the time.
    const PRUNE: &str = "DELETE FROM export_jobs WHERE tenant_id = $1 AND id NOT IN \
         (SELECT j.id FROM export_jobs j WHERE j.tenant_id = $1 ORDER BY j.id DESC LIMIT $2)";
    const END: &str = "UPDATE export_jobs SET state = $3, counts = $4, error = $5, ended_at = $6 \
         WHERE tenant_id = $1 AND id = $2 AND state = 'running'";
    const FIND: &str = "SELECT id, asked_by, server, options, state, counts, error, begun_at, ended_at FROM export_jobs \
         WHERE tenant_id = $1 AND id = $2";
    const LIST: &str = "SELECT id, asked_by, server, options, state, counts, error, begun_at, ended_at FROM export_jobs \
         WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2";
}

record! {
    /// A request to write training data, with its progress. Its files are not in the database.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ExportJobRecord of "export_jobs" {
        /// Identifies the job. Ids are ordered by time.
        pub id: Uuid,
        /// Who requested the export: `user:…` or `token:…`.
        pub asked_by: String,
        /// Random name of the server process that runs the export.
        pub server: String,
        /// Options of the request, as JSON.
        pub options: String,
        /// The state that was recorded last.
        pub state: ExportState,
        /// Counts of exported items as JSON, once the export is done.
        pub counts: Option<String>,
        /// Why the export failed, if it did.
        pub error: Option<String>,
        /// Time the export began (UTC).
        pub begun_at: Timestamp,
        /// Time the export ended (UTC).
        pub ended_at: Option<Timestamp>,
    }
}

/// Adds an export job and deletes all but the newest `kept` jobs of the workspace.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, job: &ExportJobRecord, kept: u32) -> Result<()> {
    let (asked_by, server, options) = (job.asked_by.as_str(), job.server.as_str(), job.options.as_str());
    run!(tx.conn(), execute, INSERT, tenant_id.0, job.id, asked_by, server, options, to_micros(job.begun_at))?;
    run!(tx.conn(), execute, PRUNE, tenant_id.0, i64::from(kept))?;
    Ok(())
}

/// How an export ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportEnd<'a> {
    /// State of the job from now on.
    pub state: ExportState,
    /// JSON with the counts of the export, if it succeeded.
    pub counts: Option<&'a str>,
    /// Error message, if it failed.
    pub error: Option<&'a str>,
}

/// Records how an export ended. A job that has ended already is left unchanged.
pub async fn end(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: Uuid, end: ExportEnd<'_>, at: Timestamp) -> Result<()> {
    let ExportEnd { state, counts, error } = end;
    run!(tx.conn(), execute, END, tenant_id.0, id, state.as_str(), counts, error, to_micros(at))?;
    Ok(())
}

/// An export of a workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: Uuid) -> Result<Option<ExportJobRecord>> {
    Ok(run!(conn, fetch_optional ExportJobRecord, FIND, tenant_id.0, id)?)
}

/// The exports of a workspace, newest first.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Vec<ExportJobRecord>> {
    Ok(run!(conn, fetch_all ExportJobRecord, LIST, tenant_id.0, i64::from(limit))?)
}
