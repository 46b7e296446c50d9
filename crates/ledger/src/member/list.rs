//! The members of a workspace.

use super::present;
use crate::{Ledger, MemberRecord, Result, guard::require};
use domain::{Scope, id::UserId, member::MemberStatus, role::Permission};

/// Those who are active, by address: who can be chosen for something.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<MemberRecord>> {
    let mut members = list_all(ledger, scope).await?;
    members.retain(|member| member.status == MemberStatus::Active);
    Ok(members)
}

/// Everybody who is or was a member, by address: what they did keeps their name.
pub async fn list_all(ledger: &Ledger, scope: &Scope) -> Result<Vec<MemberRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::user::members(conn, tenant_id)));
    Ok(read.await?)
}

/// One member, active or not.
pub async fn get(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<MemberRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(async move { Ok(present(conn, tenant_id, user_id).await) }));
    read.await?
}
