//! Activating a deactivated member.

use super::{by_operator, present};
use crate::{Ledger, MemberRecord, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::UserId,
    member::MemberStatus,
    role::Permission,
};

/// Activates a member. The member's tokens work again, but the member must sign in again.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such member.
pub async fn activate(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<MemberRecord> {
    require(scope, Permission::Administer)?;
    let_in(ledger, scope, user_id).await
}

/// Does the same as [`activate`] for the operator of the server.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such workspace; [`crate::Error::Invalid`] for an address of no member.
pub async fn activate_by_operator(ledger: &Ledger, tenant_slug: &str, email: &str) -> Result<MemberRecord> {
    let (tenant, member) = by_operator(ledger, tenant_slug, email).await?;
    let_in(ledger, &Scope::system(tenant.id), member.user_id).await
}

async fn let_in(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<MemberRecord> {
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let act = Act::new(Kind::MemberActivated, scope.caller, now).on(TargetKind::User, user_id.0);
    let activated = ledger
        .write(scope.into(), async move |tx| {
            store::user::lock_admins(tx, tenant_id).await?;
            let before = present(tx.conn(), tenant_id, user_id).await?;
            store::user::set_status(tx, tenant_id, user_id, MemberStatus::Active, now).await?;
            let member = present(tx.conn(), tenant_id, user_id).await?;
            if before.status != MemberStatus::Active {
                act.record(tx, tenant_id).await?;
            }
            Ok(member)
        })
        .await?;
    ledger.access_changed().await;
    Ok(activated)
}
