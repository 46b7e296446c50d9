//! What an entity was.

use super::get;
use crate::{
    EntityVersionRecord, Ledger, Listed, Result,
    cursor::{List, decode_version, encode_version, page_size},
};
use domain::{Scope, id::EntityId};

/// Which page.
#[derive(Debug, Clone, Default)]
pub struct ListVersions {
    /// 1 to 1,000; 0 for the default.
    pub limit: u32,
    /// From the page before.
    pub cursor: Option<String>,
}

/// The cursor of the page after this version.
pub fn cursor_after(version: u64) -> String {
    encode_version(List::EntityVersions, version)
}

/// One page of versions, newest first.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityId,
    query: ListVersions,
) -> Result<Listed<EntityVersionRecord>> {
    get(ledger, scope, id).await?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|cursor| decode_version(List::EntityVersions, cursor)).transpose()?;
    let tenant_id = scope.tenant_id;
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::entity::versions(conn, tenant_id, id, before, limit)))
        .await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| cursor_after(last.version));
    Ok(Listed { items: page.items, next_cursor })
}
