//! The page of one member, for admins.

use crate::{Error, Ledger, MemberRecord, Result, member};
use domain::{Scope, id::UserId, role::Permission};

/// Reads the page.
///
/// # Errors
/// [`Error::NotFound`] if there is no such member, or if the caller is not an admin.
pub async fn read(ledger: &Ledger, scope: &Scope, id: UserId) -> Result<MemberRecord> {
    if !scope.may(Permission::Administer) {
        return Err(Error::NotFound("member"));
    }
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| member::present(conn, tenant_id, id).await).await
}
