//! Reading one view.

use crate::{Error, Ledger, Result, ViewRecord, ViewVersionRecord, guard::require};
use domain::{
    Scope,
    id::{TenantId, ViewId},
    role::Permission,
};
use store::Conn;

/// Returns a view of the workspace with its working copy.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view.
pub async fn get(ledger: &Ledger, scope: &Scope, id: ViewId) -> Result<ViewRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, id).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, tenant_id: TenantId, id: ViewId) -> Result<ViewRecord> {
    let found = store::view::find(conn, tenant_id, id).await?;
    found.filter(|view| view.listed).ok_or(Error::NotFound("view"))
}

/// The view with this slug.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view.
pub(crate) async fn get_by_slug_on(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<ViewRecord> {
    let found = store::view::find_by_slug(conn, tenant_id, slug).await?;
    found.filter(|view| view.listed).ok_or(Error::NotFound("view"))
}

/// Returns a view as it was published at a version.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view, or the view has no such version.
pub async fn get_version(ledger: &Ledger, scope: &Scope, id: ViewId, version: u64) -> Result<ViewVersionRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        get_on(conn, tenant_id, id).await?;
        let found = store::view::version_of(conn, tenant_id, id, version).await?;
        found.ok_or(Error::NotFound("view in that version"))
    });
    read.await
}
