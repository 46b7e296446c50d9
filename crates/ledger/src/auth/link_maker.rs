//! Whether who made a single-use link may still make one. A link works only as long as that holds: someone who loses
//! their rights must not come back, or give rights, by a link that they kept.

use super::identify::role_now;
use domain::{Caller, Timestamp, id::TenantId, limit::INVITATIONS_MAX, member::MemberStatus, role::Role};
use std::collections::HashMap;
use store::{AccessLinkRecord, Conn, Result, WriteTx};

/// Returns whether who made the link may still make it: the operator of the server, an active admin, or a token that
/// is not revoked and has the rights of an admin now.
pub(super) async fn may_still(conn: &mut Conn<'_>, link: &AccessLinkRecord) -> Result<bool> {
    let (tenant_id, maker) = (link.tenant.id, link.created_by.as_str());
    if maker == Caller::System.to_string() {
        return Ok(true);
    }
    let (kind, id) = maker.split_once(':').unwrap_or_default();
    match (kind, id.parse(), id.parse()) {
        ("user", Ok(id), _) => {
            let member = store::user::find_any_member(conn, tenant_id, id).await?;
            Ok(member.is_some_and(|member| member.status == MemberStatus::Active && member.role == Role::Admin))
        }
        ("token", _, Ok(id)) => {
            let Some(token) = store::token::find_by_id(conn, tenant_id, id).await? else { return Ok(false) };
            if token.revoked_at.is_some() || token.scope.is_some() {
                return Ok(false);
            }
            Ok(role_now(conn, tenant_id, &token).await? == Some(Role::Admin))
        }
        _ => Ok(false),
    }
}

/// Deletes invitations that stopped working because of who made them, so that they neither count nor hide others.
pub(crate) async fn remove_ended_invitations(tx: &mut WriteTx<'_>, tenant_id: TenantId, now: Timestamp) -> Result<()> {
    for link in store::access_link::invitations(tx.conn(), tenant_id, now, INVITATIONS_MAX).await? {
        if !may_still(tx.conn(), &link).await? {
            store::access_link::delete_invitation(tx, tenant_id, link.id).await?;
        }
    }
    Ok(())
}

/// Returns the invitations of a workspace that work now, newest first.
pub(crate) async fn open_invitations(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    now: Timestamp,
) -> Result<Vec<AccessLinkRecord>> {
    let mut open = Vec::new();
    // A few admins make all invitations.
    let mut makers: HashMap<String, bool> = HashMap::new();
    for link in store::access_link::invitations(conn, tenant_id, now, INVITATIONS_MAX).await? {
        let works = match makers.get(&link.created_by) {
            Some(works) => *works,
            None => may_still(conn, &link).await?,
        };
        makers.insert(link.created_by.clone(), works);
        if works {
            open.push(link);
        }
    }
    Ok(open)
}
