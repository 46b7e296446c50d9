//! The actions of a workspace.

use crate::{
    ActionRecord, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::require,
};
use domain::{Scope, action::ActionStatus, id::ActionId, role::Permission};

/// Which actions.
#[derive(Debug, Clone, Default)]
pub struct ListActions {
    /// Only these.
    pub status: Option<ActionStatus>,
    /// 1 to 1,000; 0 for the default.
    pub limit: u32,
    /// From the page before.
    pub cursor: Option<String>,
}

/// One page, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListActions) -> Result<Listed<ActionRecord>> {
    require(scope, Permission::Read)?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|cursor| decode(List::Actions, cursor)).transpose()?.map(ActionId);
    let tenant_id = scope.tenant_id;
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::action::list(conn, tenant_id, query.status, before, limit)))
        .await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| encode(List::Actions, last.id.0));
    Ok(Listed { items: page.items, next_cursor })
}
