//! Claiming queued sessions: each is handed to exactly one worker per attempt.

mod first;

use crate::commit::{Change, EventFactory, state, write};
use crate::{
    Ledger, Result, SessionRecord,
    gate::{Denied, Resumed, denials_for_attempt, resume_context},
    guard::{Fields, require},
    human::recent_activity::gather,
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    event::Kind,
    limit::{
        CLAIM_AGENTS_MAX, CLAIM_MAX, CLAIM_OUTPUT_BYTES_MAX, CLAIM_RELATED_MAX, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN,
    },
    recent_activity::{Delimiter, render},
    role::Permission,
    session::{Actor, Command, Lease, Report, Transition, decide},
};
use serde_json::json;
use std::time::Duration;
use store::{
    PreparedEvent, WriteTx,
    session::graph::{RelatedSession, related_children, related_dependencies},
};

/// Why a claimed session runs.
const REASON: &str = "claimed";
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

/// A session in a worker's hands.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The session.
    pub session: SessionRecord,
    /// What its person was doing just now, for the end of the agent's prompt; `None` when they work on nothing, or
    /// when the session is nobody's.
    pub context: Option<String>,
    /// With what it goes on after a person decided.
    pub resume: Option<Resumed>,
    /// Outputs of it that were denied, oldest first.
    pub denials: Vec<Denied>,
    /// What came of the sessions it depends on, in the order in which they were named.
    pub dependencies: Vec<RelatedSession>,
    /// The sessions it has started, and what came of them, oldest first; only from the second claim on.
    pub children: Vec<RelatedSession>,
    /// Whether it has started more than those.
    pub has_more_children: bool,
}

/// Claims up to `max` sessions, oldest first; waits up to `wait` for the first. Empty when there was none.
pub async fn claim(ledger: &Ledger, scope: &Scope, claim: Claim, wait: Duration) -> Result<Vec<Claimed>> {
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

async fn attempt(ledger: &Ledger, scope: &Scope, claim: Claim) -> Result<Vec<Claimed>> {
    if let Some(claimed) = first::attempt(ledger, scope, &claim).await? {
        return Ok(claimed);
    }
    let now = ledger.now();
    // Randomness is drawn before the transaction, which has none of its own.
    let fresh = |_| (EventFactory::new(ledger, now, 3), Delimiter::new(ledger.entropy()));
    let fresh: Vec<(EventFactory, Delimiter)> = (0..claim.max).map(fresh).collect();
    let (scope, leases) = (*scope, ledger.lease_time());
    ledger
        .store()
        .write((&scope).into(), move |tx| {
            Box::pin(async move {
                let candidates = candidates(tx, &scope, &claim).await?;
                let mut claimed = Vec::with_capacity(candidates.len());
                if candidates.is_empty() {
                    return Ok(claimed);
                }
                let term = Term { from: leases.now(tx.conn()).await?, seconds: claim.lease_seconds };
                for (session, fresh) in candidates.into_iter().zip(fresh) {
                    claimed.push(take(tx, &scope, session, fresh, term).await?);
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

/// What a claim gives: from when, and how long.
#[derive(Clone, Copy)]
struct Term {
    from: Timestamp,
    seconds: u32,
}

async fn take(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    before: SessionRecord,
    (mut minter, delimiter): (EventFactory, Delimiter),
    Term { from, seconds: lease_seconds }: Term,
) -> Result<Claimed> {
    let transition = decide(state(&before), Actor::Caller, Command::Claim)?;
    let expires_at = from + TimeDelta::seconds(i64::from(lease_seconds));
    let mut events = vec![claimed_event(&mut minter, scope, transition, lease_seconds)?];
    let resume = resume_context(tx.conn(), &before).await?;
    let denials = denials_for_attempt(tx.conn(), &before).await?;
    let (dependencies, mut children) = related(tx, &before).await?;
    let has_more_children = children.len() > CLAIM_RELATED_MAX as usize;
    children.truncate(CLAIM_RELATED_MAX as usize);
    let context = context(tx, &before, &mut minter, &delimiter).await?;
    let context = context.map(|(text, told)| {
        events.push(told);
        text
    });
    let change = Change {
        id: before.id,
        actor: Actor::Caller,
        command: Command::Claim,
        caller: scope.caller,
        reason: REASON.into(),
        minter,
    };
    let lease = Some(Lease { seconds: lease_seconds, expires_at });
    let session = write(tx, before, transition, change, events, Report { lease, ..Report::default() }).await?;
    Ok(Claimed { session, context, resume, denials, dependencies, children, has_more_children })
}

/// What a claim records of itself.
fn claimed_event(
    minter: &mut EventFactory,
    scope: &Scope,
    transition: Transition,
    lease_seconds: u32,
) -> Result<PreparedEvent> {
    let worker = scope.caller.to_string();
    let metadata = json!({ "attempt": transition.attempt, "worker": worker, "leaseSeconds": lease_seconds });
    minter.event(Kind::SESSION_CLAIMED, None, &metadata)
}

/// What came of the sessions around this one, as far as its worker is told: of those it depends on, and of those it
/// started before this claim.
async fn related(tx: &mut WriteTx<'_>, session: &SessionRecord) -> Result<(Vec<RelatedSession>, Vec<RelatedSession>)> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    let dependencies = match session.dependency_count {
        0 => Vec::new(),
        _ => related_dependencies(tx.conn(), tenant_id, id, CLAIM_RELATED_MAX, CLAIM_OUTPUT_BYTES_MAX).await?,
    };
    // Nobody has held it before: it has started nothing.
    let children = match session.attempt {
        0 => Vec::new(),
        _ => related_children(tx.conn(), tenant_id, id, CLAIM_RELATED_MAX + 1, CLAIM_OUTPUT_BYTES_MAX).await?,
    };
    Ok((dependencies, children))
}

/// What the session's person was doing, and the event that records what the agent is told.
async fn context(
    tx: &mut WriteTx<'_>,
    session: &SessionRecord,
    minter: &mut EventFactory,
    delimiter: &Delimiter,
) -> Result<Option<(String, PreparedEvent)>> {
    let Some(user_id) = session.user_id else { return Ok(None) };
    let Some((source, activity)) = gather(tx.conn(), session.tenant_id, user_id).await? else { return Ok(None) };
    let text = render(&activity, delimiter);
    let metadata = json!({ "context": "recent_activity", "sessionId": source });
    let told = minter.event(Kind::SESSION_CONTEXT_INJECTED, Some(&text), &metadata)?;
    Ok(Some((text, told)))
}
