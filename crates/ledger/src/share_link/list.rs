//! Listing and revoking links to sessions.

use crate::{
    Error, Ledger, ListPage, Listed, Result, ShareLinkRecord,
    audit::Act,
    cursor::{List, encode},
    guard::require,
    session,
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{SessionId, ShareLinkId},
    role::Permission,
};
use serde_json::json;
use store::Conn;

/// Number of links to one session that are listed.
const OF_SESSION_MAX: u32 = 100;

/// Returns one page of links, whether they work or not, newest first: those that the caller made, and all of the
/// workspace for admins.
///
/// # Errors
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<ShareLinkRecord>> {
    let caller = *scope;
    ledger.snapshot(scope, async move |conn| list_on(conn, &caller, &page).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(conn: &mut Conn<'_>, scope: &Scope, page: &ListPage) -> Result<Listed<ShareLinkRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::ShareLinks)?;
    let maker = maker(scope);
    let found = store::share_link::list(conn, scope.tenant_id, maker.as_deref(), before, limit).await?;
    Ok(Listed::of(found, |last| encode(List::ShareLinks, last.id.0)))
}

/// Returns the newest links to one session, whether they work or not, newest first: those that the caller made, and all
/// for admins.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it.
pub async fn of_session(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Vec<ShareLinkRecord>> {
    require(scope, Permission::Read)?;
    let caller = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &caller, id).await?;
        of_session_on(conn, &caller, session.id).await
    });
    read.await
}

/// [`of_session`] on an open connection, of a session that the caller can see.
pub(crate) async fn of_session_on(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<Vec<ShareLinkRecord>> {
    let maker = maker(scope);
    Ok(store::share_link::of_session(conn, (scope.tenant_id, id), maker.as_deref(), OF_SESSION_MAX).await?)
}

/// The maker whose links the caller sees; `None` for all.
fn maker(scope: &Scope) -> Option<String> {
    (!scope.may(Permission::Administer)).then(|| scope.caller.to_string())
}

/// Revokes a link at once: browsers that opened it earlier cannot read the session any more. Allowed for whoever made
/// the link, and for admins. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such link, or somebody else made it.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: ShareLinkId) -> Result<()> {
    require(scope, Permission::Read)?;
    let (now, caller) = (ledger.now(), *scope);
    let revoked = ledger.write(scope.into(), async move |tx| {
        let link = store::share_link::find(tx.conn(), id).await?;
        let is_allowed = |made_by: &str| caller.may(Permission::Administer) || made_by == caller.caller.to_string();
        let link = link.filter(|link| link.tenant_id == caller.tenant_id && is_allowed(&link.created_by));
        let link = link.ok_or(Error::NotFound("link"))?;
        if store::share_link::revoke(tx, caller.tenant_id, id, now).await? {
            let act = Act::new(Kind::ShareRevoked, caller.caller, now).on(TargetKind::Session, link.session_id.0);
            act.with(json!({ "link": id })).record(tx, caller.tenant_id).await?;
        }
        Ok(())
    });
    revoked.await
}
