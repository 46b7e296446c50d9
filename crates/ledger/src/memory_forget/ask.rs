//! Requests of members to be forgotten. Admins answer them by forgetting the person.

use super::ADMINS;
use crate::{
    Error, Ledger, Result,
    guard::{require, require_for},
};
use domain::{Scope, id::UserId, limit::PAGE_MAX, role::Permission};
pub use store::memory_forget::ForgetRequestRecord;

const PEOPLE: Error = Error::Forbidden("only people can ask to be forgotten");

/// Asks for the caller that agents forget them. A second request is the same one.
///
/// # Errors
/// [`Error::Forbidden`] for a caller that is no person.
pub async fn ask(ledger: &Ledger, scope: &Scope) -> Result<()> {
    let (tenant_id, user_id, at) = (scope.tenant_id, person(scope)?, ledger.now());
    let asked =
        ledger.write(scope.into(), async move |tx| Ok(store::memory_forget::ask(tx, tenant_id, user_id, at).await?));
    asked.await
}

/// Withdraws the request of the caller, if there is one.
///
/// # Errors
/// [`Error::Forbidden`] for a caller that is no person.
pub async fn withdraw(ledger: &Ledger, scope: &Scope) -> Result<()> {
    let (tenant_id, user_id) = (scope.tenant_id, person(scope)?);
    let withdrawn = ledger
        .write(scope.into(), async move |tx| Ok(store::memory_forget::end_request(tx, tenant_id, user_id).await?));
    withdrawn.await
}

/// The requests that wait for an admin, the oldest first, at most [`PAGE_MAX`].
///
/// # Errors
/// [`Error::Forbidden`] for everyone but admins.
pub async fn requests(ledger: &Ledger, scope: &Scope) -> Result<Vec<ForgetRequestRecord>> {
    require_for(scope, Permission::Administer, ADMINS)?;
    let tenant_id = scope.tenant_id;
    let read = ledger
        .snapshot(scope, async move |conn| Ok(store::memory_forget::requests(conn, tenant_id, None, PAGE_MAX).await?));
    read.await
}

fn person(scope: &Scope) -> Result<UserId> {
    require(scope, Permission::Read)?;
    scope.user_id().ok_or(PEOPLE)
}
