//! The entity types of a workspace.

use crate::{
    EntityTypeRecord, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::require,
};
use domain::{Scope, id::EntityTypeId, role::Permission};

/// Which page of the list to return.
#[derive(Debug, Clone, Default)]
pub struct ListEntityTypes {
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Returns one page of entity types, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListEntityTypes) -> Result<Listed<EntityTypeRecord>> {
    require(scope, Permission::Read)?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|c| decode(List::EntityTypes, c)).transpose()?.map(EntityTypeId);
    let tenant_id = scope.tenant_id;
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::entity_type::list(conn, tenant_id, before, limit)))
        .await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| encode(List::EntityTypes, last.id.0));
    Ok(Listed { items: page.items, next_cursor })
}
