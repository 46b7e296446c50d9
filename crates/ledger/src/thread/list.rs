//! The caller's own conversations.

use crate::{
    Ledger, Listed, Result, SessionRecord,
    cursor::{List, decode, encode, page_size},
    guard::require,
};
use domain::{Scope, id::SessionId, role::Permission};
use store::Conn;

/// A checked query with a decoded cursor.
pub(crate) struct ListQuery {
    before: Option<SessionId>,
    limit: u32,
}

impl ListQuery {
    /// Checks the page size and decodes the cursor. A `limit` of 0 selects the default.
    pub(crate) fn of(limit: u32, cursor: Option<&str>) -> Result<Self> {
        let before = cursor.map(|cursor| decode(List::Threads, cursor)).transpose()?.map(SessionId);
        Ok(Self { before, limit: page_size(limit)? })
    }
}

/// Returns one page of the conversations that the caller started, or that belong to the caller as a person,
/// newest first. An incognito conversation is only listed for the caller that started it. A `limit` of 0 selects
/// the default.
pub async fn list(ledger: &Ledger, scope: &Scope, limit: u32, cursor: Option<&str>) -> Result<Listed<SessionRecord>> {
    require(scope, Permission::Read)?;
    let (reader, asked) = (*scope, ListQuery::of(limit, cursor)?);
    ledger.snapshot(scope, move |conn| Box::pin(async move { list_on(conn, &reader, asked).await })).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(conn: &mut Conn<'_>, scope: &Scope, asked: ListQuery) -> Result<Listed<SessionRecord>> {
    let (created_by, user) = (scope.caller.to_string(), scope.acting_user());
    let page = store::thread::own(conn, scope.tenant_id, (&created_by, user), asked.before, asked.limit).await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| encode(List::Threads, last.id.0));
    Ok(Listed { items: page.items, next_cursor })
}
