//! Changing the role and the access of a member: together, or one of them.

use super::{Withdrawal, by_operator, get, present, withdraw};
use crate::{Error, Ledger, MemberRecord, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::UserId,
    member::{MemberStatus, leaves_no_admin},
    role::{Permission, Role},
};
use serde_json::json;

/// What changes about a member. `None` keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberChange {
    /// The member's new role.
    pub role: Option<Role>,
    /// Whether the member has access: `true` activates the member, `false` deactivates the member.
    pub is_active: Option<bool>,
}

/// Changes the role of a member first, then the access. Each is a transaction of its own: a role that was changed stays
/// if the access cannot be changed. Returns the member as it is now.
///
/// # Errors
/// Those of [`set_role()`] for a role; those of [`activate()`] and [`withdraw()`] for the access; those of [`get()`].
pub async fn update(ledger: &Ledger, scope: &Scope, user_id: UserId, change: MemberChange) -> Result<MemberRecord> {
    if let Some(role) = change.role {
        set_role(ledger, scope, user_id, role).await?;
    }
    match change.is_active {
        Some(true) => drop(activate(ledger, scope, user_id).await?),
        Some(false) => withdraw(ledger, scope, user_id, Withdrawal::Deactivate).await?,
        None => {}
    }
    get(ledger, scope, user_id).await
}

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
