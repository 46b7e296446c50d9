//! Members of a workspace: listing, inviting, roles, and the end of their access.

mod add;
mod invite;
mod list;
mod reset_link;
mod update;
mod withdraw;

pub use add::add_by_operator;
pub use invite::{invite, list_invitations, withdraw_invitation};
pub use list::{get, list, list_all};
pub use reset_link::{reset_link, reset_link_by_operator};
pub use update::{MemberChange, activate, activate_by_operator, set_role, update};
pub use withdraw::{Withdrawal, withdraw, withdraw_by_operator};

pub(crate) use add::ensure_tenant;

use crate::{
    Error, Ledger, MemberRecord, Result, TenantRecord,
    auth::{Address, find_workspace_by_operator},
};
use domain::id::{TenantId, UserId};
use domain::member::MemberStatus;
use store::{Access, Conn};

/// Returns a member who has not been removed.
pub(crate) async fn present(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<MemberRecord> {
    let found = store::user::find_any_member(conn, tenant_id, user_id).await?;
    found.filter(|member| member.status != MemberStatus::Removed).ok_or(Error::NotFound("member"))
}

/// Returns a workspace and a member of it, for the operator of the server.
async fn by_operator(ledger: &Ledger, tenant_slug: &str, email: &str) -> Result<(TenantRecord, MemberRecord)> {
    let tenant = find_workspace_by_operator(ledger, tenant_slug).await?.ok_or(Error::NotFound("workspace"))?;
    let (tenant_id, email) = (tenant.id, Address::parse(email)?.into_string());
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(user) = store::user::find_by_email(conn, &email).await? else { return Ok(None) };
        store::user::find_any_member(conn, tenant_id, user.id).await
    });
    let member = read.await?.filter(|member| member.status != MemberStatus::Removed);
    Ok((tenant, member.ok_or_else(|| Error::invalid("email", "not a member of this workspace"))?))
}
