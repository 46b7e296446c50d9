//! Links with which a person sets a new password.

use super::{by_operator, present};
use crate::{
    Error, Ledger, Result, TenantRecord,
    audit::Act,
    auth::{Secret, SecretKind},
    guard::require,
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope,
    audit::{Kind, TargetKind},
    id::{LinkId, TenantId, UserId},
    limit::RESET_LINK_HOURS,
    member::MemberStatus,
    role::Permission,
};
use store::{Access, AccessLinkRecord, LinkPurpose};

/// Creates a link for an active member and returns its secret, which is not stored in plain text. An earlier
/// link stops working.
///
/// A password gives access to all workspaces of its person. Therefore an admin may only create links for people
/// who are in no other workspace.
///
/// # Errors
/// [`Error::NotFound`] if there is no such member; [`Error::Invalid`] if the member is deactivated;
/// [`Error::Forbidden`] if the person belongs to other workspaces too.
pub async fn reset_link(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<(AccessLinkRecord, String)> {
    require(scope, Permission::Administer)?;
    make(ledger, scope.tenant_id, user_id, scope.caller).await
}

/// Does the same as [`reset_link`] for the operator of the server, and for any member.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace; [`Error::Invalid`] for an address of no member, or of a
/// deactivated one.
pub async fn reset_link_by_operator(
    ledger: &Ledger,
    tenant_slug: &str,
    email: &str,
) -> Result<(AccessLinkRecord, String)> {
    let (tenant, member) = by_operator(ledger, tenant_slug, email).await?;
    make(ledger, tenant.id, member.user_id, Caller::System).await
}

async fn make(ledger: &Ledger, tenant_id: TenantId, user_id: UserId, by: Caller) -> Result<(AccessLinkRecord, String)> {
    let now = ledger.now();
    let secret = Secret::generate(SecretKind::Link, ledger.entropy());
    let (id, digest, by_operator) = (LinkId::new(now, ledger.entropy()), secret.digest(), by == Caller::System);
    let link = ledger
        // The check covers memberships in other workspaces, so it needs access to all workspaces.
        .write(Access::System, async move |tx| {
            let member = present(tx.conn(), tenant_id, user_id).await?;
            if member.status != MemberStatus::Active {
                return Err(Error::invalid("member", "is deactivated: activate them first"));
            }
            if !by_operator && store::user::is_member_elsewhere(tx.conn(), tenant_id, user_id).await? {
                return Err(Error::Forbidden(
                    "this person belongs to other workspaces too: only the server's operator can make a link for them",
                ));
            }
            let tenant: Option<TenantRecord> = store::tenant::find(tx.conn(), tenant_id).await?;
            let link = AccessLinkRecord {
                id,
                tenant: tenant.ok_or(Error::NotFound("workspace"))?,
                purpose: LinkPurpose::Reset { user_id, by_operator },
                email: member.email,
                created_by: by.to_string(),
                created_at: now,
                expires_at: now + TimeDelta::hours(RESET_LINK_HOURS),
            };
            store::access_link::insert(tx, &link, digest).await?;
            let created = Act::new(Kind::PasswordLinkCreated, by, now).on(TargetKind::User, user_id.0);
            created.record(tx, tenant_id).await?;
            Ok(link)
        })
        .await?;
    // Logged because whoever has the link can change the person's password.
    tracing::info!(workspace = link.tenant.slug, user = %user_id, by = link.created_by, "a password reset link was made");
    Ok((link, secret.into_string()))
}
