//! Counting the items that wait for the caller.

use super::by_role;
use crate::{Ledger, Result, guard::require};
use domain::{Scope, Timestamp, role::Permission};
use store::Conn;

/// Returns the number of open gates that the caller may decide and has not snoozed; 0 for a token. Counting
/// stops at `at_most`.
pub async fn count(ledger: &Ledger, scope: &Scope, at_most: u32) -> Result<u64> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| count_on(conn, &reader, now, at_most).await).await
}

/// [`count`] on an open connection.
pub(crate) async fn count_on(conn: &mut Conn<'_>, scope: &Scope, now: Timestamp, at_most: u32) -> Result<u64> {
    let Some(user_id) = scope.user_id() else { return Ok(0) };
    Ok(store::gate::count(conn, scope.tenant_id, user_id, by_role(scope), now, at_most).await?)
}
