//! Whether a person wants e-mails about items that wait for them.

use crate::{Error, Ledger, Result};
use domain::{Scope, id::UserId};

fn person(scope: &Scope) -> Result<UserId> {
    scope.user_id().ok_or(Error::Forbidden("only a person gets e-mail"))
}

/// Records whether the caller wants e-mails from this workspace.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person.
pub async fn set_wanted(ledger: &Ledger, scope: &Scope, wants: bool) -> Result<()> {
    let (tenant_id, user_id) = (scope.tenant_id, person(scope)?);
    let noted = ledger
        .write(scope.into(), async move |tx| Ok(store::user::set_wants_email(tx, tenant_id, user_id, wants).await?));
    noted.await
}
