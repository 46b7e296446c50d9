//! Snoozing an item.

use super::{
    get::is_shown,
    item::{GateItem, load},
    not_found, person,
};
use crate::{Error, Ledger, Result, guard::require};
use chrono::TimeDelta;
use domain::{Scope, id::GateId, limit::SNOOZE_SECONDS_MAX, role::Permission};

/// Hides an open gate from the caller's inbox for `seconds`. `None` shows it again at once. Other reviewers are
/// not affected, and the deadline does not change.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person; [`Error::Invalid`] for `seconds` out of range;
/// [`Error::NotFound`] if there is no such gate or the caller may not see it; [`Error::GateClosed`] if it is not open.
pub async fn snooze(ledger: &Ledger, scope: &Scope, id: GateId, seconds: Option<i64>) -> Result<GateItem> {
    require(scope, Permission::Read)?;
    let user_id = person(scope)?;
    if seconds.is_some_and(|seconds| !(1..=SNOOZE_SECONDS_MAX).contains(&seconds)) {
        return Err(Error::invalid("seconds", format!("1 to {SNOOZE_SECONDS_MAX}")));
    }
    let (caller, now) = (*scope, ledger.now());
    let loaded = ledger
        .write(scope.into(), async move |tx| {
            let tenant_id = caller.tenant_id;
            let gate = store::gate::find(tx.conn(), tenant_id, id).await?.ok_or_else(not_found)?;
            if !is_shown(tx.conn(), &caller, &gate).await? {
                return Err(not_found());
            }
            match seconds {
                Some(_) if !gate.state.is_open() => return Err(Error::GateClosed { state: gate.state.name() }),
                Some(seconds) => {
                    let until = now + TimeDelta::seconds(seconds);
                    store::gate::snooze(tx, tenant_id, id, user_id, until).await?;
                }
                None => store::gate::unsnooze(tx, tenant_id, id, user_id).await?,
            }
            Ok(load(tx.conn(), &caller, vec![gate], now).await?)
        })
        .await?;
    loaded.item(scope)
}
