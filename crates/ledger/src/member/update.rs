//! Changing the role and the access of a member in one request.

use super::{Withdrawal, activate, get, set_role, withdraw};
use crate::{Ledger, MemberRecord, Result};
use domain::{Scope, id::UserId, role::Role};

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
