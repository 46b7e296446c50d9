//! Letting a deactivated member in again.

use super::present;
use crate::{Error, Ledger, MemberRecord, Result, guard::require};
use domain::{Scope, id::UserId, member::MemberStatus, role::Permission};

/// Activates a member. Their own tokens work again; they sign in anew.
pub async fn activate(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<MemberRecord> {
    require(scope, Permission::Administer)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let activated = ledger
        .store()
        .write::<_, Error, _>(scope.into(), move |tx| {
            Box::pin(async move {
                store::user::lock_admins(tx, tenant_id).await?;
                present(tx.conn(), tenant_id, user_id).await?;
                store::user::set_status(tx, tenant_id, user_id, MemberStatus::Active, now).await?;
                present(tx.conn(), tenant_id, user_id).await
            })
        })
        .await?;
    ledger.access_changed();
    Ok(activated)
}
