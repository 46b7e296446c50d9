//! The entities of a workspace.

use crate::{
    EntityRecord, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::{Fields, require},
};
use domain::{
    Scope,
    id::{EntityId, EntityTypeId},
    limit::TITLE_CHARS_MAX,
    role::Permission,
};

/// Which entities.
#[derive(Debug, Clone, Default)]
pub struct ListEntities {
    /// Only this type.
    pub type_id: Option<EntityTypeId>,
    /// Only titles that contain this, whatever the case.
    pub title_contains: Option<String>,
    /// 1 to 1,000; 0 for the default.
    pub limit: u32,
    /// From the page before.
    pub cursor: Option<String>,
}

/// One page, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListEntities) -> Result<Listed<EntityRecord>> {
    require(scope, Permission::Read)?;
    let mut fields = Fields::default();
    fields.text("q", query.title_contains.as_deref(), TITLE_CHARS_MAX);
    fields.check()?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|cursor| decode(List::Entities, cursor)).transpose()?.map(EntityId);
    let title = query.title_contains.filter(|text| !text.is_empty());
    let tenant_id = scope.tenant_id;
    let page = ledger
        .store()
        .read(scope.into(), move |conn| {
            Box::pin(async move {
                store::entity::list(conn, tenant_id, query.type_id, title.as_deref(), before, limit).await
            })
        })
        .await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| encode(List::Entities, last.id.0));
    Ok(Listed { items: page.items, next_cursor })
}
