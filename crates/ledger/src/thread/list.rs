//! A caller's own conversations.

use crate::{
    Ledger, Listed, Result, SessionRecord,
    cursor::{List, decode, encode, page_size},
    guard::require,
};
use domain::{Scope, id::SessionId, role::Permission};

/// One page of the conversations that the caller began, or that are theirs as a person, newest first. An incognito one is
/// found by whoever began it alone. `limit` 0 for the default.
pub async fn list(ledger: &Ledger, scope: &Scope, limit: u32, cursor: Option<&str>) -> Result<Listed<SessionRecord>> {
    require(scope, Permission::Read)?;
    let limit = page_size(limit)?;
    let before = cursor.map(|cursor| decode(List::Threads, cursor)).transpose()?.map(SessionId);
    let (tenant_id, created_by, user) = (scope.tenant_id, scope.caller.to_string(), scope.beneficiary());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move { store::thread::own(conn, tenant_id, (&created_by, user), before, limit).await })
    });
    let page = read.await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| encode(List::Threads, last.id.0));
    Ok(Listed { items: page.items, next_cursor })
}
