//! Activating a deactivated member.

use super::{by_operator, present};
use crate::{Error, Ledger, MemberRecord, Result, guard::require};
use domain::{
    Scope,
    id::{TenantId, UserId},
    member::MemberStatus,
    role::Permission,
};
use store::Access;

/// Activates a member. The member's tokens work again, but the member must sign in again.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such member.
pub async fn activate(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<MemberRecord> {
    require(scope, Permission::Administer)?;
    let_in(ledger, scope.into(), scope.tenant_id, user_id).await
}

/// Does the same as [`activate`] for the operator of the server.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace; [`Error::Invalid`] for an address of no member.
pub async fn activate_by_operator(ledger: &Ledger, tenant_slug: &str, email: &str) -> Result<MemberRecord> {
    let (tenant, member) = by_operator(ledger, tenant_slug, email).await?;
    let_in(ledger, (&Scope::system(tenant.id)).into(), tenant.id, member.user_id).await
}

async fn let_in(ledger: &Ledger, access: Access, tenant_id: TenantId, user_id: UserId) -> Result<MemberRecord> {
    let now = ledger.now();
    let activated = ledger
        .store()
        .write::<_, Error, _>(access, move |tx| {
            Box::pin(async move {
                store::user::lock_admins(tx, tenant_id).await?;
                present(tx.conn(), tenant_id, user_id).await?;
                store::user::set_status(tx, tenant_id, user_id, MemberStatus::Active, now).await?;
                present(tx.conn(), tenant_id, user_id).await
            })
        })
        .await?;
    ledger.access_changed().await;
    Ok(activated)
}
