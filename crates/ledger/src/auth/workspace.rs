//! The workspaces of a person, and which one their browser shows.

use super::{Secret, SecretKind};
use crate::{
    Ledger, TenantRecord,
    audit::Act,
    error::{Error, Result},
};
use domain::{Scope, audit::Kind};
use serde_json::json;
use store::Access;

/// Returns the caller's workspaces in the order of joining. For a token this is only the workspace of its scope.
pub async fn list_workspaces(ledger: &Ledger, scope: &Scope) -> Result<Vec<TenantRecord>> {
    let (tenant_id, user_id) = (scope.tenant_id, scope.user_id());
    let read = ledger.store().read(Access::System, async move |conn| match user_id {
        Some(user_id) => {
            let mine = store::user::workspaces(conn, user_id).await?;
            Ok(mine.into_iter().map(|(tenant, _)| tenant).collect())
        }
        None => Ok(store::tenant::find(conn, tenant_id).await?.into_iter().collect()),
    });
    Ok(read.await?)
}

/// Returns the workspace with this slug, for the operator of the server.
pub async fn find_workspace_by_operator(ledger: &Ledger, slug: &str) -> Result<Option<TenantRecord>> {
    let slug = slug.to_owned();
    let read = ledger.store().read(Access::System, async move |conn| store::tenant::find_by_slug(conn, &slug).await);
    Ok(read.await?)
}

/// Makes the caller's browser show another workspace of the caller. Open streams of the browser end.
///
/// # Errors
/// [`Error::NotFound`] if the cookie is not valid or the caller is not a member of that workspace.
pub async fn switch(ledger: &Ledger, secret: &str, scope: &Scope, slug: &str) -> Result<()> {
    let secret = Secret::parse(SecretKind::Cookie, secret).ok_or(Error::NotFound("workspace"))?;
    let digest = secret.digest();
    let wanted = list_workspaces(ledger, scope).await?.into_iter().find(|tenant| tenant.slug == slug);
    let tenant_id = wanted.ok_or(Error::NotFound("workspace"))?.id;
    let switched = Act::new(Kind::SignInAccepted, scope.caller, ledger.now()).with(json!({ "switched": true }));
    ledger
        .write(Access::System, async move |tx| {
            let session = store::browser_session::find(tx.conn(), digest).await?.ok_or(Error::NotFound("sign-in"))?;
            store::browser_session::switch(tx, session.id, tenant_id).await?;
            switched.record(tx, tenant_id).await
        })
        .await?;
    ledger.access_changed().await;
    Ok(())
}
