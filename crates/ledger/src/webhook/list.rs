//! The webhooks of a workspace.

use crate::{Ledger, Result, WebhookRecord, guard::require};
use domain::{Scope, role::Permission};

/// Returns the webhooks, oldest first, including disabled ones.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<WebhookRecord>> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    Ok(ledger.store().read(scope.into(), move |conn| Box::pin(store::webhook::list(conn, tenant_id))).await?)
}
