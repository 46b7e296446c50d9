//! Links by which a person chooses a new password.

use super::{by_operator, present};
use crate::{
    Error, Ledger, Result, TenantRecord,
    auth::{Secret, SecretKind},
    guard::require,
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope,
    id::{LinkId, TenantId, UserId},
    limit::RESET_LINK_HOURS,
    member::MemberStatus,
    role::Permission,
};
use store::{Access, AccessLinkRecord, LinkPurpose};

/// Makes a link for an active member. Its secret is in the answer and nowhere else. An earlier one stops working.
///
/// A password opens every workspace of its person, so an admin may do this only for people of this workspace alone.
pub async fn reset_link(ledger: &Ledger, scope: &Scope, user_id: UserId) -> Result<(AccessLinkRecord, String)> {
    require(scope, Permission::Administer)?;
    make(ledger, scope.tenant_id, user_id, scope.caller).await
}

/// The same from the server's own machine, for anybody.
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
        .store()
        // Memberships elsewhere decide, so it looks across workspaces.
        .write::<_, Error, _>(Access::System, move |tx| {
            Box::pin(async move {
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
                Ok(link)
            })
        })
        .await?;
    // Who could have changed somebody's password is worth a line.
    tracing::info!(workspace = link.tenant.slug, user = %user_id, by = link.created_by, "a password reset link was made");
    Ok((link, secret.into_string()))
}
