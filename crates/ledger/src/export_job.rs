//! Exports of training data that were asked for on a page: what became of them outlives the server that made them.

use crate::{Ledger, Result, guard::require};
use domain::{
    Scope,
    interaction::ExportState,
    limit::{EXPORT_JOBS_REMEMBERED, REASON_CHARS_MAX},
    role::Permission,
    thread::cut,
};
pub use store::export_job::ExportJobRecord;
use uuid::Uuid;

/// How an export ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// JSON: what was counted, where it is done.
    pub counts: Option<String>,
    /// Why it failed, where it did.
    pub error: Option<String>,
}

/// Notes that an export of the workspace is begun. The oldest are forgotten where there are too many.
pub async fn begin(ledger: &Ledger, scope: &Scope, id: Uuid, server: String, options: String) -> Result<()> {
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
    let noted = ledger.store().write(scope.into(), move |tx| {
        Box::pin(async move { Ok(store::export_job::insert(tx, tenant_id, &job, EXPORT_JOBS_REMEMBERED).await?) })
    });
    noted.await
}

/// Notes how an export ended. Whoever asked for it may have lost the right to meanwhile: it ended all the same.
pub async fn end(ledger: &Ledger, scope: &Scope, id: Uuid, state: ExportState, ending: Ending) -> Result<()> {
    let (tenant_id, at) = (scope.tenant_id, ledger.now());
    let Ending { counts, error } = ending;
    let error = error.map(|error| cut(&error, REASON_CHARS_MAX));
    let noted = ledger.store().write(scope.into(), move |tx| {
        Box::pin(async move {
            let how = (state, counts.as_deref(), error.as_deref());
            Ok(store::export_job::end(tx, tenant_id, id, how, at).await?)
        })
    });
    noted.await
}

/// An export of the workspace.
pub async fn find(ledger: &Ledger, scope: &Scope, id: Uuid) -> Result<Option<ExportJobRecord>> {
    require(scope, Permission::ManageSessions)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::export_job::find(conn, tenant_id, id)));
    Ok(read.await?)
}

/// The newest exports of the workspace.
pub async fn list(ledger: &Ledger, scope: &Scope, limit: u32) -> Result<Vec<ExportJobRecord>> {
    require(scope, Permission::ManageSessions)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::export_job::list(conn, tenant_id, limit)));
    Ok(read.await?)
}
