//! Withdrawing a person's access to a workspace.

use super::{by_operator, present};
use crate::{
    Error, Ledger, MemberRecord, Result,
    audit::Act,
    commit::{Change, Minter, state, write},
    guard::require,
};
use domain::{
    Caller, Scope,
    audit::{Kind, TargetKind},
    id::{TenantId, UserId},
    member::{MemberStatus, leaves_no_admin},
    role::Permission,
    session::{Actor, Command, Report, decide},
};
use store::{Access, WriteTx};

/// How access is withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// Temporarily. Groups and tokens are kept but have no effect.
    Deactivate,
    /// Permanently. The person's own tokens are revoked and they leave their groups. Searches that they saved for
    /// themselves are deleted. They can be invited again.
    Remove,
}

impl Withdrawal {
    const fn status(self) -> MemberStatus {
        match self {
            Self::Deactivate => MemberStatus::Deactivated,
            Self::Remove => MemberStatus::Removed,
        }
    }

    const fn audit_kind(self) -> Kind {
        match self {
            Self::Deactivate => Kind::MemberDeactivated,
            Self::Remove => Kind::MemberRemoved,
        }
    }
}

/// Withdraws a member's access. Their sign-ins to the workspace end. Links that they created and links created
/// for them stop working. Their running human session is cancelled. What they wrote is kept with their name.
///
/// # Errors
/// [`Error::NotFound`] if there is no such member; [`Error::LastAdmin`] if the workspace would have no admin.
pub async fn withdraw(ledger: &Ledger, scope: &Scope, user_id: UserId, how: Withdrawal) -> Result<()> {
    require(scope, Permission::Administer)?;
    end_access(ledger, scope.into(), (scope.tenant_id, user_id), how, scope.caller).await
}

/// Does the same as [`withdraw`] for the operator of the server.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace; [`Error::Invalid`] for an address of no member;
/// [`Error::LastAdmin`] if the workspace would have no admin.
pub async fn withdraw_by_operator(
    ledger: &Ledger,
    tenant_slug: &str,
    email: &str,
    how: Withdrawal,
) -> Result<MemberRecord> {
    let (tenant, member) = by_operator(ledger, tenant_slug, email).await?;
    let access = (&Scope::system(tenant.id)).into();
    end_access(ledger, access, (tenant.id, member.user_id), how, Caller::System).await?;
    Ok(member)
}

async fn end_access(
    ledger: &Ledger,
    access: Access,
    (tenant_id, user_id): (TenantId, UserId),
    how: Withdrawal,
    by: Caller,
) -> Result<()> {
    let now = ledger.now();
    let minter = Minter::new(ledger, now);
    ledger
        .write(access, async move |tx| {
            let admins = store::user::lock_admins(tx, tenant_id).await?;
            let member = present(tx.conn(), tenant_id, user_id).await?;
            if leaves_no_admin(&admins, &user_id, how.status(), member.role) {
                return Err(Error::LastAdmin);
            }
            store::user::set_status(tx, tenant_id, user_id, how.status(), now).await?;
            store::browser_session::delete_of_member(tx, tenant_id, user_id).await?;
            store::access_link::delete_of_member(tx, tenant_id, &member.email, &Caller::User(user_id).to_string())
                .await?;
            if how == Withdrawal::Remove {
                store::token::revoke_of(tx, tenant_id, user_id, now).await?;
                store::group::remove_everywhere(tx, tenant_id, user_id).await?;
                store::search::saved::delete_of_person(tx, tenant_id, user_id).await?;
                store::tool_saved_input::delete_of_person(tx, tenant_id, user_id).await?;
                store::canvas::remove_from_all(tx, tenant_id, &Caller::User(user_id).to_string()).await?;
            }
            stop_working(tx, tenant_id, user_id, by, minter).await?;
            if member.status != how.status() {
                let act = Act::new(how.audit_kind(), by, now).on(TargetKind::User, user_id.0);
                act.record(tx, tenant_id).await?;
            }
            Ok(())
        })
        .await?;
    ledger.access_changed().await;
    Ok(())
}

/// Cancels the running human session of a person.
async fn stop_working(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    by: Caller,
    minter: Minter,
) -> Result<()> {
    let Some(before) = store::human::active_locked(tx, tenant_id, user_id).await? else { return Ok(()) };
    let change = Change {
        id: before.id,
        actor: Actor::Server,
        command: Command::Cancel,
        caller: by,
        reason: "access to the workspace was withdrawn".into(),
        minter,
    };
    let transition = decide(state(&before), change.actor, change.command)?;
    write(tx, before, transition, change, Vec::new(), Report::default()).await?;
    Ok(())
}
