//! Listing the versions of a criteria set.

use super::get;
use crate::{
    CriteriaSetRecord, Ledger, Listed, Result,
    cursor::{List, decode_version, encode_version, page_size},
};
use domain::{Scope, id::CriteriaSetId};

/// Which page of the list to return.
#[derive(Debug, Clone, Default)]
pub struct ListVersions {
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Returns the cursor of the page that begins after this version.
pub fn cursor_after(version: u64) -> String {
    encode_version(List::CriteriaSetVersions, version)
}

/// Returns one page of versions, newest first.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    id: CriteriaSetId,
    query: ListVersions,
) -> Result<Listed<CriteriaSetRecord>> {
    get(ledger, scope, id).await?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|c| decode_version(List::CriteriaSetVersions, c)).transpose()?;
    let tenant_id = scope.tenant_id;
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::criteria_set::versions(conn, tenant_id, id, before, limit)))
        .await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| cursor_after(last.version));
    Ok(Listed { items: page.items, next_cursor })
}
