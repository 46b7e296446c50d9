//! Changing the role of a member.

use super::present;
use crate::{Error, Ledger, MemberRecord, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::UserId,
    member::leaves_no_admin,
    role::{Permission, Role},
};
use serde_json::json;

/// Gives a member another role.
///
/// # Errors
/// [`Error::NotFound`] if there is no such member; [`Error::LastAdmin`] if the workspace would have no admin.
pub async fn set_role(ledger: &Ledger, scope: &Scope, user_id: UserId, role: Role) -> Result<MemberRecord> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    let act = Act::new(Kind::MemberRoleChanged, scope.caller, ledger.now()).on(TargetKind::User, user_id.0);
    let changed = ledger
        .write(scope.into(), async move |tx| {
            let admins = store::user::lock_admins(tx, tenant_id).await?;
            let member = present(tx.conn(), tenant_id, user_id).await?;
            if leaves_no_admin(&admins, &user_id, member.status, role) {
                return Err(Error::LastAdmin);
            }
            store::user::set_role(tx, tenant_id, user_id, role).await?;
            let changed = present(tx.conn(), tenant_id, user_id).await?;
            if member.role != role {
                act.with(json!({ "from": member.role, "to": role })).record(tx, tenant_id).await?;
            }
            Ok(changed)
        })
        .await?;
    ledger.access_changed().await;
    Ok(changed)
}
