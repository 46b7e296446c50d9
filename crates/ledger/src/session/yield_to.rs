//! A worker parks its session until something arrives.

use super::change::{Change, Minter, apply};
use crate::{
    Ledger, Result, SessionRecord,
    guard::{Fields, require},
};
use domain::{
    Scope,
    id::SessionId,
    limit::REASON_CHARS_MAX,
    role::Permission,
    session::{Actor, Command, YieldTo},
};

/// Parks the session; the lease ends. `detail` says to people what is awaited.
pub async fn yield_to(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    attempt: u32,
    to: YieldTo,
    detail: Option<String>,
) -> Result<SessionRecord> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    fields.text("detail", detail.as_deref(), REASON_CHARS_MAX);
    fields.check()?;
    let fallback = match to {
        YieldTo::Idle => "resting",
        YieldTo::WaitingHuman => "waiting for a person",
        YieldTo::AwaitingTool => "waiting for a tool",
    };
    let change = Change {
        id,
        actor: Actor::Worker { attempt },
        command: Command::Yield(to),
        caller: scope.caller,
        reason: detail.filter(|d| !d.trim().is_empty()).unwrap_or_else(|| fallback.into()),
        minter: Minter::new(ledger, ledger.now(), 1),
    };
    apply(ledger, scope, change, |_| Ok(Vec::new()), |_| {}).await
}
