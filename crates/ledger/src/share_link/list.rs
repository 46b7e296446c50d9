//! Listing links to sessions.

use crate::{
    Ledger, ListPage, Listed, Result, ShareLinkRecord,
    cursor::{List, encode},
    guard::require,
    session,
};
use domain::{Scope, id::SessionId, role::Permission};
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
