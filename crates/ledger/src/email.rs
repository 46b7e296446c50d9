//! Whether a person wants an e-mail when something waits for them.

use crate::{Error, Ledger, Result};
use domain::{Scope, id::UserId};

fn person(scope: &Scope) -> Result<UserId> {
    scope.user_id().ok_or(Error::Forbidden("only a person gets e-mail"))
}

/// Whether the caller wants it in this workspace.
pub async fn is_wanted(ledger: &Ledger, scope: &Scope) -> Result<bool> {
    let (tenant_id, user_id) = (scope.tenant_id, person(scope)?);
    let read =
        ledger.store().read(scope.into(), move |conn| Box::pin(store::user::wants_email(conn, tenant_id, user_id)));
    Ok(read.await?)
}

/// Notes whether the caller wants it in this workspace.
pub async fn set_wanted(ledger: &Ledger, scope: &Scope, wants: bool) -> Result<()> {
    let (tenant_id, user_id) = (scope.tenant_id, person(scope)?);
    let noted = ledger.store().write::<_, Error, _>(scope.into(), move |tx| {
        Box::pin(async move { Ok(store::user::set_wants_email(tx, tenant_id, user_id, wants).await?) })
    });
    noted.await
}
