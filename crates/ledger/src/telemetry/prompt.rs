//! Whether an agent is to ask its person.

use super::opt_in::current;
use crate::{Ledger, Result};
use chrono::TimeDelta;
use domain::{
    Scope,
    role::Permission,
    telemetry::{PROMPT, PROMPT_HOURS},
};

/// Returns what makes an agent ask at the start of a session, and records that it asks. `None` if it is not time, or if
/// the caller could not give the answer.
pub(crate) async fn prompt(ledger: &Ledger, scope: &Scope) -> Result<Option<&'static str>> {
    if !scope.may(Permission::Administer) || !ledger.relevance().telemetry {
        return Ok(None);
    }
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.store().read(scope.into(), async move |conn| current(conn, tenant_id, now).await);
    if !read.await?.asks(now) {
        return Ok(None);
    }
    let since = now - TimeDelta::hours(PROMPT_HOURS);
    let written =
        ledger.write(scope.into(), async move |tx| Ok(store::telemetry::prompt(tx, tenant_id, (now, since)).await?));
    Ok(written.await?.then_some(PROMPT))
}
