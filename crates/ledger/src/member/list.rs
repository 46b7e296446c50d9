//! The members of a workspace.

use super::present;
use crate::{Ledger, MemberRecord, Result, guard::require};
use domain::{Scope, id::UserId, member::MemberStatus, role::Permission};

/// Returns the active members, ordered by address.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<MemberRecord>> {
    let mut members = list_all(ledger, scope).await?;
    members.retain(|member| member.status == MemberStatus::Active);
    Ok(members)
}

/// Returns all present and former members, ordered by address. Former members are needed to show who wrote
/// something.
pub async fn list_all(ledger: &Ledger, scope: &Scope) -> Result<Vec<MemberRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::user::members(conn, tenant_id).await);
    Ok(read.await?)
}

/// Returns one member, active or deactivated.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such member.
pub async fn get(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<MemberRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| Ok(present(conn, tenant_id, user_id).await));
    read.await?
}
