//! Snoozing an item.

use super::{
    item::{GateItem, due_at, load},
    not_found, person,
    visibility::is_shown,
};
use crate::{Error, Ledger, Result, guard::require};
use chrono::{SecondsFormat, TimeDelta};
use domain::{
    Scope, Timestamp,
    gate::Gate,
    id::{GateId, UserId},
    limit::SNOOZE_SECONDS_MAX,
    role::Permission,
};
use store::WriteTx;

/// How long before it expires an item is shown again at the latest, unless its snooze ends before it expires, minutes.
const SHOWN_MINUTES: i64 = 60;

/// Hides an open gate from the caller's inbox for `seconds`, see [`snooze_until`]. `None` shows it again at once.
///
/// # Errors
/// Those of [`snooze_until`], for the field `seconds`.
pub async fn snooze(ledger: &Ledger, scope: &Scope, id: GateId, seconds: Option<i64>) -> Result<GateItem> {
    let user_id = snoozer(scope)?;
    if seconds.is_some_and(|seconds| !(1..=SNOOZE_SECONDS_MAX).contains(&seconds)) {
        return Err(Error::invalid("seconds", format!("1 to {SNOOZE_SECONDS_MAX}")));
    }
    let until = seconds.map(|seconds| ledger.now() + TimeDelta::seconds(seconds));
    change(ledger, scope, (id, user_id), until, "seconds").await
}

/// Hides an open gate from the caller's inbox until a time. `None` shows it again at once. Other reviewers are not
/// affected, and the deadline does not change. A gate that expires before that time is shown again an hour before it
/// expires.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person; [`Error::Invalid`] for the field `until` if it is not in the
/// future or more than 90 days away, or if the gate expires before it and within an hour; [`Error::NotFound`] if there
/// is no such gate or the caller may not see it; [`Error::GateClosed`] if it is not open.
pub async fn snooze_until(ledger: &Ledger, scope: &Scope, id: GateId, until: Option<Timestamp>) -> Result<GateItem> {
    let (user_id, now) = (snoozer(scope)?, ledger.now());
    if until.is_some_and(|until| until <= now || until > now + TimeDelta::seconds(SNOOZE_SECONDS_MAX)) {
        let days = TimeDelta::seconds(SNOOZE_SECONDS_MAX).num_days();
        return Err(Error::invalid("until", format!("in the future, and within {days} days")));
    }
    change(ledger, scope, (id, user_id), until, "until").await
}

fn snoozer(scope: &Scope) -> Result<UserId> {
    require(scope, Permission::Read)?;
    person(scope)
}

/// Sets or ends a snooze. Errors about its end name `field`.
async fn change(
    ledger: &Ledger,
    scope: &Scope,
    (id, user_id): (GateId, UserId),
    until: Option<Timestamp>,
    field: &'static str,
) -> Result<GateItem> {
    let (caller, now) = (*scope, ledger.now());
    let loaded = ledger
        .write(scope.into(), async move |tx| {
            let tenant_id = caller.tenant_id;
            let gate = store::gate::find(tx.conn(), tenant_id, id).await?.ok_or_else(not_found)?;
            if !is_shown(tx.conn(), &caller, &gate).await? {
                return Err(not_found());
            }
            match until {
                Some(_) if !gate.state.is_open() => return Err(Error::GateClosed { state: gate.state.name() }),
                Some(until) => {
                    let due_at = due_at(tx.conn(), &gate).await?;
                    let until = shown_again(until, due_at, now).ok_or_else(|| too_late(field, due_at))?;
                    store::gate::snooze(tx, tenant_id, id, user_id, until).await?;
                }
                None => store::gate::unsnooze(tx, tenant_id, id, user_id).await?,
            }
            Ok(load(tx.conn(), &caller, vec![gate], now).await?)
        })
        .await?;
    loaded.item(scope)
}

/// When an item that is snoozed until `until` is shown again. `None` if it expires before, and too soon to be hidden.
fn shown_again(until: Timestamp, due_at: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    match due_at.filter(|due_at| *due_at <= until) {
        None => Some(until),
        Some(due_at) => Some(due_at - TimeDelta::minutes(SHOWN_MINUTES)).filter(|at| *at > now),
    }
}

fn too_late(field: &'static str, due_at: Option<Timestamp>) -> Error {
    let at = due_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)).unwrap_or_default();
    Error::invalid(field, format!("it expires at {at}: the snooze has to end before that"))
}

/// Hides an open gate from a person who handed it over, for at most `seconds`, as [`snooze_until`] does. A gate that
/// expires within an hour remains in their inbox.
pub(super) async fn set_aside(
    tx: &mut WriteTx<'_>,
    gate: &Gate,
    user_id: UserId,
    seconds: i64,
    now: Timestamp,
) -> Result<()> {
    let due_at = due_at(tx.conn(), gate).await?;
    if let Some(until) = shown_again(now + TimeDelta::seconds(seconds), due_at, now) {
        store::gate::snooze(tx, gate.tenant_id, gate.id, user_id, until).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_shown_again_an_hour_before_it_expires_at_the_latest() {
        let at = |time: &str| format!("2026-11-28T{time}:00Z").parse::<Timestamp>().unwrap();
        let (now, until) = (at("09:00"), at("12:00"));
        assert_eq!(shown_again(until, None, now), Some(until));
        assert_eq!(shown_again(until, Some(at("12:01")), now), Some(until));
        assert_eq!(shown_again(until, Some(until), now), Some(at("11:00")));
        assert_eq!(shown_again(until, Some(at("10:30")), now), Some(at("09:30")));
        assert_eq!(shown_again(until, Some(at("10:00")), now), None);
        assert_eq!(shown_again(until, Some(at("09:10")), now), None);
    }
}
