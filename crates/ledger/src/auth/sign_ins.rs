//! The caller's own sign-ins: browsers that are signed in as this person.

use super::{Secret, SecretKind, account::person, identify::IDLE_LIFE};
use crate::{
    Ledger,
    audit::Act,
    error::{Error, Result},
};
use domain::{Scope, audit::Kind, id::BrowserSessionId};
use serde_json::json;
use store::{Access, SignInRecord};

/// Returns the caller's sign-ins to all workspaces, last used first. `secret` is the cookie of the present
/// sign-in, which is marked in the list.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person.
pub async fn list_sign_ins(ledger: &Ledger, scope: &Scope, secret: &str) -> Result<Vec<SignInRecord>> {
    let (user_id, now) = (person(scope)?, ledger.now());
    let digest = Secret::parse(SecretKind::Cookie, secret).map(|secret| secret.digest());
    let read = ledger.store().read(Access::System, async move |conn| {
        store::browser_session::list_of_user(conn, user_id, digest, now, now - IDLE_LIFE).await
    });
    Ok(read.await?)
}

/// Ends one of the caller's sign-ins.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person; [`Error::NotFound`] if the caller has no such sign-in.
pub async fn end_sign_in(ledger: &Ledger, scope: &Scope, id: BrowserSessionId) -> Result<()> {
    let user_id = person(scope)?;
    let ended = Act::new(Kind::SignInEnded, scope.caller, ledger.now());
    let known = ledger.write(Access::System, async move |tx| {
        let Some(tenant_id) = store::browser_session::delete_one(tx, user_id, id).await? else { return Ok(false) };
        ended.record(tx, tenant_id).await?;
        Ok(true)
    });
    let known = known.await?;
    ledger.access_changed().await;
    if known { Ok(()) } else { Err(Error::NotFound("sign-in")) }
}

/// Ends all sign-ins of the caller except the one with the cookie `secret`.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person.
pub async fn end_other_sign_ins(ledger: &Ledger, scope: &Scope, secret: &str) -> Result<()> {
    let user_id = person(scope)?;
    let kept = Secret::parse(SecretKind::Cookie, secret).map(|secret| secret.digest());
    let ended = Act::new(Kind::SignInEnded, scope.caller, ledger.now());
    ledger
        .write(Access::System, async move |tx| {
            let tenants = store::browser_session::delete_of_user(tx, user_id, kept).await?;
            ended.with(json!({ "others": true })).record_in(tx, tenants).await
        })
        .await?;
    ledger.access_changed().await;
    Ok(())
}
