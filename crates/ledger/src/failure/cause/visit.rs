//! Recording that a person looks at the causes of failures.

use crate::{Ledger, Result, guard::require};
use chrono::TimeDelta;
use domain::{Scope, limit::CAUSE_VISIT_MINUTES, role::Permission};

/// Time between two records of the same visit.
const EVERY: TimeDelta = TimeDelta::minutes(1);

/// Records that the caller looks at the causes of failures now, so that the next visit shows what failed since. Nothing
/// is recorded for a token.
///
/// # Errors
/// [`crate::Error::Forbidden`] if the caller may not read.
pub async fn visit(ledger: &Ledger, scope: &Scope) -> Result<()> {
    require(scope, Permission::Read)?;
    let (Some(user), tenant, now) = (scope.user_id(), scope.tenant_id, ledger.now()) else { return Ok(()) };
    let known = ledger
        .store()
        .read(scope.into(), async move |conn| store::failure::visit::find(conn, tenant, user).await)
        .await?;
    if known.is_some_and(|visit| now - visit.seen_at < EVERY) {
        return Ok(());
    }
    let new_since = now - TimeDelta::minutes(CAUSE_VISIT_MINUTES);
    ledger
        .write(scope.into(), async move |tx| Ok(store::failure::visit::see(tx, tenant, user, now, new_since).await?))
        .await
}
