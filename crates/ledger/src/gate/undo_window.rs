//! The undo window of a workspace.

use crate::{Error, Ledger, Result, audit::Act, guard::require};
use domain::{Scope, audit::Kind, limit::UNDO_SECONDS_MAX, role::Permission};
use serde_json::json;

/// Returns the undo window in seconds. A decision takes effect when it is over.
pub async fn undo_seconds(ledger: &Ledger, scope: &Scope) -> Result<u32> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::tenant::undo_seconds(conn, tenant_id).await);
    Ok(read.await?)
}

/// Sets the undo window for future decisions: 0 to 60 seconds. With 0, decisions take effect at once.
///
/// # Errors
/// [`Error::Invalid`] for more than 60 seconds.
pub async fn set_undo_seconds(ledger: &Ledger, scope: &Scope, seconds: u32) -> Result<()> {
    require(scope, Permission::Administer)?;
    if seconds > UNDO_SECONDS_MAX {
        return Err(Error::invalid("undoSeconds", format!("0 to {UNDO_SECONDS_MAX}")));
    }
    let tenant_id = scope.tenant_id;
    let changed = Act::new(Kind::WorkspaceChanged, scope.caller, ledger.now());
    let write = ledger.write(scope.into(), async move |tx| {
        let before = store::tenant::undo_seconds(tx.conn(), tenant_id).await?;
        store::tenant::set_undo_seconds(tx, tenant_id, seconds).await?;
        if before != seconds {
            let detail = json!({ "setting": "undoSeconds", "from": before, "to": seconds });
            changed.with(detail).record(tx, tenant_id).await?;
        }
        Ok(())
    });
    write.await
}
