//! The common claim, of sessions that nobody has held: on PostgreSQL one statement, decided beforehand.
//!
//! Such a session has nothing to be told to its worker, so all that a claim makes of it is known before it is known which
//! session it will be. If one of the oldest is of another kind, none is taken, and the claim goes the long way.

use super::{Claim, Claimed, REASON, claimed_event};
use crate::{Ledger, Result, commit::EventFactory};
use domain::{
    Scope,
    session::{Actor, Command, Position, Status, Type, decide},
};
use store::session::{ClaimTerms, FirstClaim};

/// A session that is queued for the first time. What its type and limit are makes no difference to a claim.
const QUEUED: Position = Position { status: Status::Pending, session_type: Type::Agent, attempt: 0, attempts_max: 1 };

/// Claims in one statement; `None` where the claim has to go the long way.
pub(super) async fn attempt(ledger: &Ledger, scope: &Scope, claim: &Claim) -> Result<Option<Vec<Claimed>>> {
    let agent_slug = match claim.agent_slugs.as_deref() {
        None => None,
        Some([only]) => Some(only.clone()),
        Some(_) => return Ok(None),
    };
    if !ledger.store().is_postgres() {
        return Ok(None);
    }
    let transition = decide(QUEUED, Actor::Caller, Command::Claim)?;
    let now = ledger.now();
    let mut events = Vec::with_capacity(claim.max as usize);
    for _ in 0..claim.max {
        let mut minter = EventFactory::new(ledger, now, 2);
        events.push([
            claimed_event(&mut minter, scope, transition, claim.lease_seconds)?,
            minter.status_change(Some(QUEUED.status), transition.to(), REASON)?,
        ]);
    }
    let terms = ClaimTerms {
        agent_slug,
        attempt_before: QUEUED.attempt,
        status: transition.to(),
        attempt: transition.attempt,
        lease_seconds: claim.lease_seconds,
        lease_time: ledger.lease_time(),
        actor: scope.caller.to_string(),
    };
    let taken = ledger.store().claim_first(scope.into(), FirstClaim { terms, at: now, events }).await?;
    let plain = |session| Claimed {
        session,
        context: None,
        resume: None,
        denials: Vec::new(),
        dependencies: Vec::new(),
        children: Vec::new(),
        has_more_children: false,
    };
    Ok(taken.map(|sessions| sessions.into_iter().map(plain).collect()))
}
