//! The views of a workspace.

use crate::{
    Error, Ledger, ListPage, Listed, Result, ViewRecord,
    cursor::{List, encode},
    guard::require,
};
use domain::{Scope, id::ViewId, role::Permission, slug::is_slug};

/// Returns one page of the listed views with their working copies, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<ViewRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::Views)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(ViewId));
    let page = ledger
        .store()
        .read(scope.into(), async move |conn| store::view::list(conn, tenant_id, before, limit).await)
        .await?;
    Ok(Listed::of(page, |last| encode(List::Views, last.id.0)))
}

/// Returns the listed view with this slug as the only item of the first page; an empty page if there is none.
///
/// # Errors
/// [`Error::Invalid`] for a text that is not a slug or a limit above 1,000; [`Error::InvalidCursor`] for a cursor of
/// another list.
pub async fn list_by_slug(ledger: &Ledger, scope: &Scope, slug: &str, page: ListPage) -> Result<Listed<ViewRecord>> {
    require(scope, Permission::Read)?;
    let (before, _) = page.before_id(List::Views)?;
    if !is_slug(slug) {
        return Err(Error::invalid("slug", "lower-case letters, digits and single hyphens"));
    }
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let found = ledger
        .store()
        .read(scope.into(), async move |conn| store::view::find_by_slug(conn, tenant_id, &slug).await)
        .await?;
    let items = found.into_iter().filter(|view| view.listed && before.is_none_or(|before| view.id.0 < before));
    Ok(Listed { items: items.collect(), next_cursor: None })
}
