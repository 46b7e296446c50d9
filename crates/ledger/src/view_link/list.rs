//! Listing and revoking the links to a form.

use crate::{Error, Ledger, Result, ViewLinkRecord, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{ViewId, ViewLinkId},
    limit::VIEW_LINKS_MAX,
    role::Permission,
};
use std::cmp::Reverse;

/// Returns the links of a view that work, newest first, at most [`VIEW_LINKS_MAX`]. All links to the form itself are
/// among them; the oldest links to questions that use it are left out if there are more.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view.
pub async fn list(ledger: &Ledger, scope: &Scope, view_id: ViewId) -> Result<Vec<ViewLinkRecord>> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger
        .snapshot(scope, async move |conn| {
            store::view::find(conn, tenant_id, view_id).await?.ok_or(Error::NotFound("view"))?;
            let place = (tenant_id, view_id);
            let mut links = store::view_link::of_form(conn, place, now, VIEW_LINKS_MAX).await?;
            let room = VIEW_LINKS_MAX.saturating_sub(u32::try_from(links.len()).unwrap_or(u32::MAX));
            links.extend(store::view_link::of_questions(conn, place, now, room).await?);
            links.sort_by_key(|link| Reverse(link.id));
            Ok(links)
        })
        .await
}

/// Revokes a link at once: browsers that opened it earlier cannot answer the form any more. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such link.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: ViewLinkId) -> Result<()> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let act = Act::new(Kind::LinkRevoked, scope.caller, now).on(TargetKind::ViewLink, id.0);
    let revoked = ledger.write(scope.into(), async move |tx| {
        let changed = store::view_link::revoke(tx, tenant_id, id, now).await?;
        if changed == Some(true) {
            act.record(tx, tenant_id).await?;
        }
        Ok(changed.is_some())
    });
    if revoked.await? { Ok(()) } else { Err(Error::NotFound("link")) }
}
