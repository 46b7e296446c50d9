//! The fast path of a claim, for sessions that no worker has claimed before. On PostgreSQL it is one statement.
//!
//! Such a session has no context for its worker, so the events of the claim can be built before it is known
//! which session will be claimed. If one of the oldest sessions needs context, none is claimed here, and the
//! caller uses the general path.

use super::{Claim, Claimed, REASON, claimed_event};
use crate::{Ledger, Result, commit::Minter, feedback_request::TakenAnswers};
use domain::{
    Scope,
    session::{Actor, Command, Position, Status, Type, decide},
};
use store::session::{ClaimTerms, FirstClaim};

/// The position of a session that is queued for the first time. Its type and its largest number of attempts do
/// not affect a claim.
const QUEUED: Position = Position { status: Status::Pending, session_type: Type::Agent, attempt: 0, attempts_max: 1 };

/// Claims in one statement. Returns `None` if the general path must be used.
pub(super) async fn attempt(ledger: &Ledger, scope: &Scope, claim: &Claim) -> Result<Option<Vec<Claimed>>> {
    let agent_slug = match claim.agent_slugs.as_deref() {
        None => None,
        Some([only]) => Some(only.clone()),
        Some(_) => return Ok(None),
    };
    if !ledger.store().is_postgres() {
        return Ok(None);
    }
    if agent_slug.as_deref().is_some_and(|agent| ledger.remembering().has(scope.tenant_id, agent)) {
        return Ok(None);
    }
    let transition = decide(QUEUED, Actor::Caller, Command::Claim)?;
    let now = ledger.now();
    let mut events = Vec::with_capacity(claim.max as usize);
    for _ in 0..claim.max {
        let mut minter = Minter::new(ledger, now);
        events.push([
            claimed_event(&mut minter, scope, transition, claim.lease_seconds),
            minter.status_change(Some(QUEUED.status), transition.to(), REASON),
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
        rate_memories: false,
        resume: None,
        tool_results: Vec::new(),
        messages: Vec::new(),
        has_more_messages: false,
        answers: TakenAnswers::default(),
        denials: Vec::new(),
        dependencies: Vec::new(),
        children: Vec::new(),
        has_more_children: false,
    };
    Ok(taken.map(|sessions| sessions.into_iter().map(plain).collect()))
}
