//! Inviting people by single-use links.

use crate::{
    Error, Ledger, Result,
    audit::Act,
    auth::{Address, Secret, SecretKind, open_invitations, remove_ended_invitations},
    guard::require,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::LinkId,
    limit::{INVITATION_DAYS, INVITATIONS_MAX},
    member::MemberStatus,
    role::{Permission, Role},
};
use serde_json::json;
use store::{Access, AccessLinkRecord, LinkPurpose};

/// Creates an invitation and returns its secret, which is not stored in plain text. An earlier invitation of the
/// same address stops working.
///
/// # Errors
/// [`Error::Invalid`] for a text that is not an address, or if the person is a member already; [`Error::LimitReached`]
/// if there are too many open invitations.
pub async fn invite(ledger: &Ledger, scope: &Scope, email: &str, role: Role) -> Result<(AccessLinkRecord, String)> {
    require(scope, Permission::Administer)?;
    let email = Address::parse(email)?.into_string();
    let now = ledger.now();
    let secret = Secret::generate(SecretKind::Link, ledger.entropy());
    let (id, digest) = (LinkId::new(now, ledger.entropy()), secret.digest());
    let (tenant_id, created_by) = (scope.tenant_id, scope.caller.to_string());
    let invited =
        Act::new(Kind::MemberInvited, scope.caller, now).on(TargetKind::AccessLink, id.0).with(json!({ "role": role }));
    let link = ledger
        .write(scope.into(), async move |tx| {
            // The lock keeps two requests from exceeding the limit together.
            store::user::lock_admins(tx, tenant_id).await?;
            let tenant = store::tenant::find(tx.conn(), tenant_id).await?.ok_or(Error::NotFound("workspace"))?;
            if let Some(user) = store::user::find_by_email(tx.conn(), &email).await? {
                let member = store::user::find_any_member(tx.conn(), tenant_id, user.id).await?;
                refuse_present(member.map(|member| member.status))?;
            }
            remove_ended_invitations(tx, tenant_id, now).await?;
            let open = open_invitations(tx.conn(), tenant_id, now).await?;
            if open.len() >= INVITATIONS_MAX as usize && open.iter().all(|link| link.email != email) {
                let text = format!("a workspace has at most {INVITATIONS_MAX} open invitations");
                return Err(Error::LimitReached(text));
            }
            let link = AccessLinkRecord {
                id,
                tenant,
                purpose: LinkPurpose::Invitation(role),
                email,
                created_by,
                created_at: now,
                expires_at: now + TimeDelta::days(INVITATION_DAYS),
            };
            store::access_link::insert(tx, &link, digest).await?;
            invited.record(tx, tenant_id).await?;
            Ok(link)
        })
        .await?;
    Ok((link, secret.into_string()))
}

/// Refuses to invite a person who is a member, active or deactivated.
fn refuse_present(status: Option<MemberStatus>) -> Result<()> {
    match status {
        Some(MemberStatus::Active) => Err(Error::invalid("email", "is a member of this workspace already")),
        Some(MemberStatus::Deactivated) => {
            Err(Error::invalid("email", "is a deactivated member of this workspace: activate them instead"))
        }
        Some(MemberStatus::Removed) | None => Ok(()),
    }
}

/// Returns the invitations that work now, newest first.
pub async fn list_invitations(ledger: &Ledger, scope: &Scope) -> Result<Vec<AccessLinkRecord>> {
    require(scope, Permission::Administer)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.store().read(scope.into(), async move |conn| open_invitations(conn, tenant_id, now).await);
    Ok(read.await?)
}

/// Withdraws an invitation, which stops working at once.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such invitation.
pub async fn withdraw_invitation(ledger: &Ledger, scope: &Scope, id: LinkId) -> Result<()> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    let withdrawn = Act::new(Kind::InvitationWithdrawn, scope.caller, ledger.now()).on(TargetKind::AccessLink, id.0);
    let known = ledger.write(Access::from(scope), async move |tx| {
        let known = store::access_link::delete_invitation(tx, tenant_id, id).await?;
        if known {
            withdrawn.record(tx, tenant_id).await?;
        }
        Ok(known)
    });
    if known.await? { Ok(()) } else { Err(Error::NotFound("invitation")) }
}
