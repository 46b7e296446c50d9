//! Records of training data exports started on a page. The records outlive the server that runs the export.

use crate::{Error, Ledger, Result, audit::Act, auth::find_workspace_by_operator, guard::require};
use domain::{
    Caller, Scope,
    audit::{Kind, TargetKind},
    interaction::ExportState,
    limit::{EXPORT_JOBS_REMEMBERED, EXPORT_NOTED_CHARS_MAX, REASON_CHARS_MAX},
    role::Permission,
    thread::cut,
};
use serde_json::{Value, json};
use std::path::Path;
use store::export_job::ExportEnd;
pub use store::export_job::ExportJobRecord;
use uuid::Uuid;

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// JSON with the counts of the export, if it succeeded.
    pub counts: Option<String>,
    /// Error message, if it failed.
    pub error: Option<String>,
}

/// Records that an export has started. Only the newest [`EXPORT_JOBS_REMEMBERED`] records of a workspace are
/// kept.
pub async fn begin(
    ledger: &Ledger,
    scope: &Scope,
    id: Uuid,
    server: String,
    (what, options): (ExportContent, String),
) -> Result<()> {
    require(scope, Permission::ManageSessions)?;
    let job = ExportJobRecord {
        id,
        asked_by: scope.caller.to_string(),
        server,
        options,
        state: ExportState::Running,
        counts: None,
        error: None,
        begun_at: ledger.now(),
        ended_at: None,
    };
    let tenant_id = scope.tenant_id;
    let started = Act::new(Kind::ExportStarted, scope.caller, job.begun_at)
        .on(TargetKind::Export, id)
        .with(json!({ "what": what.as_str(), "options": noted_options(&job.options) }));
    let noted = ledger.write(scope.into(), async move |tx| {
        store::export_job::insert(tx, tenant_id, &job, EXPORT_JOBS_REMEMBERED).await?;
        started.record(tx, tenant_id).await
    });
    noted.await
}

/// What an export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportContent {
    /// Training data in one of its formats.
    Training,
    /// Prompts, answers, feedback and outcomes as they were captured.
    Raw,
    /// Labels of memories.
    Labels,
}

impl ExportContent {
    /// Name in the audit list.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Raw => "raw",
            Self::Labels => "labels",
        }
    }
}

/// Options of an export for the audit list; null if they are too long for it.
fn noted_options(options: &str) -> Value {
    if options.chars().count() > EXPORT_NOTED_CHARS_MAX {
        return Value::Null;
    }
    serde_json::from_str(options).unwrap_or_default()
}

/// Records in the audit list that the operator of the server exports data of the workspace with this slug into a
/// folder. `options` is JSON with the filter. The answer to forgetting a person has the folder.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace.
pub async fn record_by_operator(
    ledger: &Ledger,
    tenant_slug: &str,
    what: ExportContent,
    (folder, options): (&Path, &str),
) -> Result<()> {
    let tenant = find_workspace_by_operator(ledger, tenant_slug).await?.ok_or(Error::NotFound("workspace"))?;
    let folder = cut(&folder.display().to_string(), EXPORT_NOTED_CHARS_MAX);
    let detail = json!({ "what": what.as_str(), "options": noted_options(options), "folder": folder });
    let started = Act::new(Kind::ExportStarted, Caller::System, ledger.now()).with(detail);
    started.write(ledger, &Scope::system(tenant.id)).await
}

/// Records in the audit list that the caller downloads a file of an export.
pub async fn record_download(ledger: &Ledger, scope: &Scope, id: Uuid, file: &str) -> Result<()> {
    require(scope, Permission::ManageSessions)?;
    let downloaded = Act::new(Kind::ExportDownloaded, scope.caller, ledger.now());
    downloaded.on(TargetKind::Export, id).with(json!({ "file": file })).write(ledger, scope).await
}

/// Records how an export ended. Permissions are not checked, because the person who started the export may have
/// lost them.
pub async fn end(ledger: &Ledger, scope: &Scope, id: Uuid, state: ExportState, ending: Ending) -> Result<()> {
    let (tenant_id, at) = (scope.tenant_id, ledger.now());
    let Ending { counts, error } = ending;
    let error = error.map(|error| cut(&error, REASON_CHARS_MAX));
    let noted = ledger.write(scope.into(), async move |tx| {
        let end = ExportEnd { state, counts: counts.as_deref(), error: error.as_deref() };
        Ok(store::export_job::end(tx, tenant_id, id, end, at).await?)
    });
    noted.await
}

/// Returns an export of the workspace, or `None` if there is none with this id.
pub async fn find(ledger: &Ledger, scope: &Scope, id: Uuid) -> Result<Option<ExportJobRecord>> {
    require(scope, Permission::ManageSessions)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::export_job::find(conn, tenant_id, id).await);
    Ok(read.await?)
}

/// Returns the newest exports of the workspace.
pub async fn list(ledger: &Ledger, scope: &Scope, limit: u32) -> Result<Vec<ExportJobRecord>> {
    require(scope, Permission::ManageSessions)?;
    let tenant_id = scope.tenant_id;
    let read =
        ledger.store().read(scope.into(), async move |conn| store::export_job::list(conn, tenant_id, limit).await);
    Ok(read.await?)
}
