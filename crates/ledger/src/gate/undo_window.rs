//! For how long decisions of a workspace can be undone.

use crate::{Error, Ledger, Result, guard::require};
use domain::{Scope, limit::UNDO_SECONDS_MAX, role::Permission};

/// Seconds for which a decision's effect is held back.
pub async fn undo_seconds(ledger: &Ledger, scope: &Scope) -> Result<u32> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::tenant::undo_seconds(conn, tenant_id)));
    Ok(read.await?)
}

/// Sets it for decisions from now on: 0 to 60; with 0 they take effect at once.
pub async fn set_undo_seconds(ledger: &Ledger, scope: &Scope, seconds: u32) -> Result<()> {
    require(scope, Permission::Administer)?;
    if seconds > UNDO_SECONDS_MAX {
        return Err(Error::invalid("undoSeconds", format!("0 to {UNDO_SECONDS_MAX}")));
    }
    let tenant_id = scope.tenant_id;
    let write = ledger.store().write(scope.into(), move |tx| {
        Box::pin(async move { Ok::<_, Error>(store::tenant::set_undo_seconds(tx, tenant_id, seconds).await?) })
    });
    write.await
}
