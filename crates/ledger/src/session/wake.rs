//! Taking an idle session back.

use crate::{
    Error, Ledger, Result,
    commit::{Change, Minter, is_thread, state, write},
    guard::{Fields, require},
    visibility::require_visible_or_claimed,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    id::SessionId,
    limit::{LEASE_SECONDS_DEFAULT, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN},
    role::Permission,
    session::{Actor, Command, Lease, Report, Session, decide},
};
use store::{LeaseTime, WriteTx};

/// The reason in the status change.
const REASON: &str = "taken back by its worker";

/// Gives an idle session back to the worker that left it, under the same attempt and with a new lease. The worker goes
/// on as if it had not yielded: it can complete the session, fail it or yield again. Without this call the reports of a
/// worker that has yielded are refused, because a command that yields its session and ends is reported as done.
///
/// # Errors
/// [`Error::Invalid`] for a lease out of range; [`Error::NotFound`] if there is no such session, or if the caller
/// neither can see it nor claimed it last; [`Error::Refused`] if it is not idle or another attempt has claimed it;
/// [`Error::NotNow`] for a conversation.
pub async fn wake(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    attempt: u32,
    lease_seconds: Option<u32>,
) -> Result<Session> {
    require(scope, Permission::Work)?;
    let seconds = lease_seconds.unwrap_or(LEASE_SECONDS_DEFAULT);
    let mut fields = Fields::default();
    if !(LEASE_SECONDS_MIN..=LEASE_SECONDS_MAX).contains(&seconds) {
        fields.refuse("leaseSeconds", format!("{LEASE_SECONDS_MIN} to {LEASE_SECONDS_MAX}"));
    }
    fields.check()?;
    let minter = Minter::new(ledger, ledger.now());
    let (caller, leases) = (*scope, ledger.lease_time());
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::session::find_locked(tx, caller.tenant_id, id).await?;
            let before = require_visible_or_claimed(tx.conn(), &caller, before).await?;
            wake_on(tx, &caller, before, (attempt, seconds), leases, minter).await
        })
        .await
}

/// [`wake`] for a locked session.
async fn wake_on(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    before: Session,
    (attempt, seconds): (u32, u32),
    leases: LeaseTime,
    minter: Minter,
) -> Result<Session> {
    let (actor, command) = (Actor::Worker { attempt }, Command::Wake);
    let transition = decide(state(&before), actor, command)?;
    if is_thread(&before) {
        return Err(Error::NotNow("a conversation continues with the next message of its person"));
    }
    let expires_at = leases.now(tx.conn()).await? + TimeDelta::seconds(i64::from(seconds));
    let report = Report { lease: Some(Lease { seconds, expires_at }), ..Report::default() };
    let change = Change { id: before.id, actor, command, caller: scope.caller, reason: REASON.into(), minter };
    write(tx, before, transition, change, Vec::new(), report).await
}
