//! What people decide about a cause.

use super::{get::get_on, list::Cause, span::When};
use crate::{Error, Ledger, Result, guard::require_for};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    failure::cause::{CauseState, Window},
    id::CauseId,
    limit::CAUSE_SNOOZE_DAYS_MAX,
    role::Permission,
};
use store::failure::cause::Decision;

/// Records that someone has seen a cause. Further failures of it change nothing. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such cause; [`Error::Forbidden`] if the caller may not manage sessions
/// of others.
pub async fn acknowledge(ledger: &Ledger, scope: &Scope, id: CauseId) -> Result<Cause> {
    decide(ledger, scope, id, CauseState::Acknowledged, None).await
}

/// Sets a cause aside until a time, at most a year from now. A repeat sets the new time.
///
/// # Errors
/// Those of [`acknowledge`]; [`Error::Invalid`] for a time that is not in the future or more than a year away.
pub async fn snooze(ledger: &Ledger, scope: &Scope, id: CauseId, until: Timestamp) -> Result<Cause> {
    let now = ledger.now();
    if until <= now || until > now + TimeDelta::days(CAUSE_SNOOZE_DAYS_MAX) {
        return Err(Error::invalid("until", format!("in the future, and within {CAUSE_SNOOZE_DAYS_MAX} days")));
    }
    decide(ledger, scope, id, CauseState::Snoozed, Some(until)).await
}

/// Records that a cause is fixed. The next failure opens it again. A repeat changes nothing until then.
///
/// # Errors
/// Those of [`acknowledge`].
pub async fn resolve(ledger: &Ledger, scope: &Scope, id: CauseId) -> Result<Cause> {
    decide(ledger, scope, id, CauseState::Resolved, None).await
}

/// Opens a cause again. A repeat changes nothing.
///
/// # Errors
/// Those of [`acknowledge`].
pub async fn reopen(ledger: &Ledger, scope: &Scope, id: CauseId) -> Result<Cause> {
    decide(ledger, scope, id, CauseState::Open, None).await
}

async fn decide(
    ledger: &Ledger,
    scope: &Scope,
    id: CauseId,
    state: CauseState,
    until: Option<Timestamp>,
) -> Result<Cause> {
    let reason = "only operators and admins can decide about causes of failures";
    require_for(scope, Permission::ManageSessions, reason)?;
    let (scope, now) = (*scope, ledger.now());
    ledger
        .write((&scope).into(), async move |tx| {
            let week = When::window(Window::Week);
            let (cause, _) = get_on(tx.conn(), &scope, id, &week, now).await?;
            if cause.current.state == state && cause.current.reopened_at.is_none() && until.is_none() {
                return Ok(cause);
            }
            let by = scope.caller.to_string();
            let decision = Decision { state, until, by: &by, at: now };
            if !store::failure::cause::decide(tx, scope.tenant_id, id, decision).await? {
                return Err(Error::NotFound("cause"));
            }
            Ok(get_on(tx.conn(), &scope, id, &week, now).await?.0)
        })
        .await
}
