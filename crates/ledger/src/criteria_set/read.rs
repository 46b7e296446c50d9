//! Reading the criteria sets of a workspace, and their versions.

use crate::{
    CriteriaSetRecord, Error, Ledger, ListPage, Listed, Result,
    cursor::{List, encode, encode_version},
    guard::require,
};
use domain::{
    Scope,
    id::{CriteriaSetId, TenantId},
    role::Permission,
};
use store::Conn;

/// Returns one page of criteria sets at their newest versions, newest set first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<CriteriaSetRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| list_on(conn, tenant_id, page).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    page: ListPage,
) -> Result<Listed<CriteriaSetRecord>> {
    let (before, limit) = page.before_id(List::CriteriaSets)?;
    let page = store::criteria_set::list(conn, tenant_id, before.map(CriteriaSetId), limit).await?;
    Ok(Listed::of(page, |last| encode(List::CriteriaSets, last.id.0)))
}

/// Returns a criteria set of the workspace at a version, or at its newest version.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such set, or the set has no such version.
pub async fn get(ledger: &Ledger, scope: &Scope, id: CriteriaSetId, version: Option<u64>) -> Result<CriteriaSetRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, id, version).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CriteriaSetId,
    version: Option<u64>,
) -> Result<CriteriaSetRecord> {
    match version {
        Some(version) => {
            let found = store::criteria_set::find_version(conn, tenant_id, id, version).await?;
            found.ok_or(Error::NotFound("criteria set in that version"))
        }
        None => store::criteria_set::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("criteria set")),
    }
}

/// Returns one page of versions, newest first.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such set; [`Error::Invalid`] for a limit above 1,000;
/// [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    id: CriteriaSetId,
    page: ListPage,
) -> Result<Listed<CriteriaSetRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, (before, limit)) = (scope.tenant_id, page.before_version(List::CriteriaSetVersions)?);
    ledger
        .snapshot(scope, async move |conn| {
            get_on(conn, tenant_id, id, None).await?;
            versions_on(conn, tenant_id, id, before, limit).await
        })
        .await
}

/// [`list_versions`] on an open connection. The criteria set must exist.
pub(crate) async fn versions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CriteriaSetId,
    before: Option<u64>,
    limit: u32,
) -> Result<Listed<CriteriaSetRecord>> {
    let page = store::criteria_set::versions(conn, tenant_id, id, before, limit).await?;
    Ok(Listed::of(page, |last| encode_version(List::CriteriaSetVersions, last.version)))
}
