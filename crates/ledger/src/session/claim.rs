//! Claiming queued sessions: each is handed to exactly one worker per attempt.

use super::change::{Change, Minter, state, write};
use crate::{
    Ledger, Result, SessionRecord,
    guard::{Fields, require},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    event::Kind,
    limit::{CLAIM_AGENTS_MAX, CLAIM_MAX, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN},
    role::Permission,
    session::{Actor, Command, decide},
};
use serde_json::json;
use std::time::Duration;
use store::WriteTx;

/// How long a waiting claim sleeps at most before it looks again: a wake-up may get lost between servers.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// What a worker asks for.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Only sessions of these agents; any agent's when absent.
    pub agent_slugs: Option<Vec<String>>,
    /// 1 to 100.
    pub max: u32,
    /// 1 to 3,600.
    pub lease_seconds: u32,
}

impl Claim {
    fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        if !(1..=CLAIM_MAX).contains(&self.max) {
            fields.refuse("max", format!("1 to {CLAIM_MAX}"));
        }
        if !(LEASE_SECONDS_MIN..=LEASE_SECONDS_MAX).contains(&self.lease_seconds) {
            fields.refuse("leaseSeconds", format!("{LEASE_SECONDS_MIN} to {LEASE_SECONDS_MAX}"));
        }
        match &self.agent_slugs {
            Some(slugs) if slugs.is_empty() || slugs.len() > CLAIM_AGENTS_MAX => {
                fields.refuse("agentSlugs", format!("1 to {CLAIM_AGENTS_MAX} agents, or absent for any"));
            }
            Some(slugs) => slugs.iter().for_each(|slug| fields.slug("agentSlugs", Some(slug))),
            None => {}
        }
        fields.check()
    }
}

/// Claims up to `max` sessions, oldest first; waits up to `wait` for the first. Empty when there was none.
pub async fn claim(ledger: &Ledger, scope: &Scope, claim: Claim, wait: Duration) -> Result<Vec<SessionRecord>> {
    require(scope, Permission::Work)?;
    claim.check()?;
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        // Registered before looking, so that a session queued in between is not missed.
        let queued = ledger.hub().queued(scope.tenant_id);
        let claimed = attempt(ledger, scope, claim.clone()).await?;
        if !claimed.is_empty() || tokio::time::Instant::now() >= deadline {
            return Ok(claimed);
        }
        let until = deadline.min(tokio::time::Instant::now() + LOOK_AGAIN);
        // Either way we look again: woken, or to be sure.
        let _ = tokio::time::timeout_at(until, queued.wait()).await;
    }
}

async fn attempt(ledger: &Ledger, scope: &Scope, claim: Claim) -> Result<Vec<SessionRecord>> {
    let now = ledger.now();
    let minters: Vec<Minter> = (0..claim.max).map(|_| Minter::new(ledger, now, 2)).collect();
    let scope = *scope;
    ledger
        .store()
        .write((&scope).into(), move |tx| {
            Box::pin(async move {
                let candidates = candidates(tx, &scope, &claim).await?;
                let mut claimed = Vec::with_capacity(candidates.len());
                for (session, minter) in candidates.into_iter().zip(minters) {
                    claimed.push(take(tx, &scope, session, minter, claim.lease_seconds).await?);
                }
                Ok(claimed)
            })
        })
        .await
}

/// The oldest claimable sessions over all wanted agents.
async fn candidates(tx: &mut WriteTx<'_>, scope: &Scope, claim: &Claim) -> Result<Vec<SessionRecord>> {
    let Some(slugs) = &claim.agent_slugs else {
        return Ok(store::session::claimable(tx, scope.tenant_id, None, claim.max).await?);
    };
    let mut found = Vec::new();
    for slug in slugs {
        found.extend(store::session::claimable(tx, scope.tenant_id, Some(slug), claim.max).await?);
    }
    found.sort_by_key(|session| (session.queued_at, session.id));
    found.dedup_by_key(|session| session.id);
    found.truncate(claim.max as usize);
    Ok(found)
}

async fn take(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    before: SessionRecord,
    mut minter: Minter,
    lease_seconds: u32,
) -> Result<SessionRecord> {
    let transition = decide(state(&before), Actor::Caller, Command::Claim)?;
    let now = minter.at();
    let expires_at = now + TimeDelta::seconds(i64::from(lease_seconds));
    let metadata =
        json!({ "attempt": transition.attempt, "worker": scope.caller.to_string(), "leaseSeconds": lease_seconds });
    let events = vec![minter.event(Kind::SESSION_CLAIMED, None, &metadata)?];
    let change = Change {
        id: before.id,
        actor: Actor::Caller,
        command: Command::Claim,
        caller: scope.caller,
        reason: "claimed".into(),
        minter,
    };
    let lease = move |session: &mut SessionRecord| {
        session.lease_seconds = Some(lease_seconds);
        session.lease_expires_at = Some(expires_at);
    };
    write(tx, before, transition, change, events, lease).await
}
