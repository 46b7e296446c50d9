//! Claiming pending sessions. Each attempt of a session is given to exactly one worker.

mod first;
mod messages;
mod refused;
mod remembering;

pub use messages::ClaimedMessage;
pub(crate) use remembering::Remembering;

use self::refused::{Failed, Refused};
use super::{
    fail::{Failure, fail},
    supply_tool_results::{SuppliedResult, of_wait},
};
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    feedback_request::{TakenAnswers, take_on},
    gate::{Denied, Resumed, denials_for_attempt, resume_context},
    guard::{Fields, require},
    human::recent_activity::gather,
    memory_block::{self, Learning, MemoryBlock},
    memory_bounds::MemoryBounds,
    memory_ranker::Rankers,
    memory_vector::Vectors,
    relevance,
    tool::with_private,
    wait::last_wait,
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    event::kind::{self, Context, ContextInjected},
    id::SessionId,
    limit::{
        CLAIM_AGENTS_MAX, CLAIM_MAX, CLAIM_OUTPUT_BYTES_MAX, CLAIM_RELATED_MAX, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN,
    },
    recent_activity::render,
    relevance::Settings,
    role::Permission,
    session::{Actor, Command, Lease, Report, Session, Transition, decide},
    untrusted::Delimiter,
};
use futures_util::future::{Either, select};
use std::{pin::pin, time::Duration};
use store::{
    LeaseTime, PreparedEvent, WriteTx,
    session::{
        Claimable,
        graph::{RelatedSession, related_children, related_dependencies},
    },
};

/// The reason in the status change of a claim.
const REASON: &str = "claimed";
/// Longest time that a waiting claim sleeps before it looks again, because wake-ups between servers may be lost.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// The request of a worker.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Claim only sessions of these agents; `None` for any agent.
    pub agent_slugs: Option<Vec<String>>,
    /// Largest number of sessions, 1 to 100.
    pub max: u32,
    /// Duration of the lease in seconds, 1 to 3,600.
    pub lease_seconds: u32,
}

impl Claim {
    /// The agent, if the claim names exactly one.
    fn only_agent(&self) -> Option<&str> {
        match self.agent_slugs.as_deref() {
            Some([only]) => Some(only),
            _ => None,
        }
    }

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
            Some(slugs) => slugs.iter().for_each(|slug| fields.agent("agentSlugs", Some(slug))),
            None => {}
        }
        fields.check()
    }
}

/// A claimed session with the context for its worker.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The session, now running with a new attempt.
    pub session: Session,
    /// Recent activity of the session's person and memories of the agent, to be appended to the agent's prompt.
    /// `None` if there is neither: the person has no running human session, and no memory is relevant.
    pub context: Option<String>,
    /// Whether the agent is to rate the memories in it.
    pub rate_memories: bool,
    /// The decision with which the session continues.
    pub resume: Option<Resumed>,
    /// Results of custom tools that ended the session's wait, in the order in which they were supplied.
    pub tool_results: Vec<SuppliedResult>,
    /// Messages since the worker left the session idle, oldest first.
    pub messages: Vec<ClaimedMessage>,
    /// Whether the log has more such messages than `messages` contains.
    pub has_more_messages: bool,
    /// Answers of people for which the session did not wait, and that this claim took.
    pub answers: TakenAnswers,
    /// Denied outputs of the session, oldest first.
    pub denials: Vec<Denied>,
    /// Results of the sessions that it depends on, in the order in which they were named.
    pub dependencies: Vec<RelatedSession>,
    /// The sessions that it started, with their results, oldest first. Empty at the first claim.
    pub children: Vec<RelatedSession>,
    /// Whether it started more sessions than `children` contains.
    pub has_more_children: bool,
}

/// Claims up to `max` sessions, oldest first. Waits up to `wait` for the first one. Empty if there was none. A session
/// whose claim fails for a reason of its own is passed over.
///
/// # Errors
/// [`crate::Error::Invalid`] for a number, a duration or agents out of range. Why the oldest session cannot be claimed,
/// if there is no other.
pub async fn claim(ledger: &Ledger, scope: &Scope, claim: Claim, wait: Duration) -> Result<Vec<Claimed>> {
    claim_until(ledger, scope, claim, wait, std::future::pending()).await
}

/// Does the same as [`claim`], and stops waiting when `stop` is ready. A search that has begun is completed, because
/// its sessions would otherwise be leased without a worker.
///
/// # Errors
/// Those of [`claim`].
pub async fn claim_until(
    ledger: &Ledger,
    scope: &Scope,
    claim: Claim,
    wait: Duration,
    stop: impl Future<Output = ()>,
) -> Result<Vec<Claimed>> {
    require(scope, Permission::Work)?;
    claim.check()?;
    let deadline = tokio::time::Instant::now() + wait;
    let mut stop = pin!(stop);
    loop {
        // Subscribed before the query, so that a session queued in between is not missed.
        let queued = ledger.hub().queued(scope.tenant_id);
        let claimed = attempt(ledger, scope, claim.clone()).await?;
        let claimed = with_private_values(ledger, scope, claimed).await?;
        if !claimed.is_empty() || tokio::time::Instant::now() >= deadline {
            return Ok(claimed);
        }
        let until = deadline.min(tokio::time::Instant::now() + LOOK_AGAIN);
        // After a wake-up or a timeout the loop looks again.
        let woken = pin!(tokio::time::timeout_at(until, queued.wait()));
        if let Either::Left(_) = select(stop.as_mut(), woken).await {
            return Ok(claimed);
        }
    }
}

/// Puts the private values of tools' inputs back. A session whose values cannot be read fails: without them the tool
/// would do something else.
async fn with_private_values(ledger: &Ledger, scope: &Scope, claimed: Vec<Claimed>) -> Result<Vec<Claimed>> {
    let mut whole = Vec::with_capacity(claimed.len());
    for one in claimed {
        let (id, attempt) = (one.session.id, one.session.attempt);
        match with_private(ledger, scope, one.session.clone()).await {
            Ok(session) => whole.push(Claimed { session, ..one }),
            Err(error) => {
                let message = format!("its private values cannot be read: {error}");
                let code = Some("input_unavailable".to_owned());
                fail(ledger, scope, id, Failure { attempt, message, code, usage: None }).await?;
            }
        }
    }
    Ok(whole)
}

async fn attempt(ledger: &Ledger, scope: &Scope, claim: Claim) -> Result<Vec<Claimed>> {
    if let Some(claimed) = first::attempt(ledger, scope, &claim).await? {
        return Ok(claimed);
    }
    let mut refused = Refused::default();
    loop {
        match general(ledger, scope, claim.clone(), refused.sessions.clone()).await {
            Ok(claimed) => return refused.end(claimed),
            Err(failed) => refused.add(failed)?,
        }
    }
}

/// Claims on the general path, in one transaction. Leaves out sessions that were refused before.
async fn general(
    ledger: &Ledger,
    scope: &Scope,
    claim: Claim,
    refused: Vec<SessionId>,
) -> std::result::Result<Vec<Claimed>, Failed> {
    let now = ledger.now();
    // Randomness is drawn before the transaction, which has no source of its own.
    let fresh = |_| Fresh {
        minter: Minter::new(ledger, now),
        delimiters: [(); 3].map(|()| Delimiter::new(ledger.entropy())),
        bounds: ledger.memory_bounds(),
        learning: (ledger.relevance(), (ledger.rankers(), ledger.vectors())),
    };
    let fresh: Vec<Fresh> = (0..claim.max).map(fresh).collect();
    let (scope, leases) = (*scope, ledger.lease_time());
    let only = claim.only_agent().map(str::to_owned);
    let (claimed, remembered) = ledger
        .write_or_refuse((&scope).into(), async move |tx| {
            let candidates = candidates(tx, &scope, &claim, &refused, leases).await?;
            let (mut claimed, mut remembered) = (Vec::with_capacity(candidates.len()), false);
            if candidates.is_empty() {
                return Ok::<_, Failed>((claimed, remembered));
            }
            for (Claimable { session, found_at }, fresh) in candidates.into_iter().zip(fresh) {
                let term = Term { from: found_at, seconds: claim.lease_seconds };
                let id = session.id;
                let taken = take(tx, &scope, session, fresh, term).await;
                let (taken, has_memories) = taken.map_err(|error| Failed { session: Some(id), error })?;
                claimed.push(taken);
                remembered |= has_memories;
            }
            Ok((claimed, remembered))
        })
        .await?;
    if let Some(agent) = only {
        ledger.remembering().record(scope.tenant_id, agent, remembered);
    }
    Ok(claimed)
}

/// Returns the oldest claimable sessions of all requested agents, without those that were refused before.
async fn candidates(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    claim: &Claim,
    refused: &[SessionId],
    leases: LeaseTime,
) -> Result<Vec<Claimable>> {
    let (tenant_id, limit) = (scope.tenant_id, claim.max.saturating_add(refused.len() as u32));
    let mut found = match &claim.agent_slugs {
        None => store::session::claimable(tx, tenant_id, None, limit, leases).await?,
        Some(slugs) => {
            let mut found = Vec::new();
            for slug in slugs {
                found.extend(store::session::claimable(tx, tenant_id, Some(slug), limit, leases).await?);
            }
            found.sort_by_key(|one| (one.session.queued_at, one.session.id));
            found.dedup_by_key(|one| one.session.id);
            found
        }
    };
    found.retain(|one| !refused.contains(&one.session.id));
    found.truncate(claim.max as usize);
    Ok(found)
}

/// The start and duration of a lease.
#[derive(Clone, Copy)]
struct Term {
    from: Timestamp,
    seconds: u32,
}

/// What the transaction of a claim cannot make itself: event ids, and a delimiter for each block of untrusted text, and
/// how much memory agents are given.
struct Fresh {
    minter: Minter,
    delimiters: [Delimiter; 3],
    bounds: MemoryBounds,
    learning: (Settings, (Rankers, Vectors)),
}

/// Claims a session on the general path. Also returns whether its agent was given memories.
async fn take(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    before: Session,
    Fresh { mut minter, delimiters: [of_activity, of_resume, of_answers], bounds, learning }: Fresh,
    Term { from, seconds: lease_seconds }: Term,
) -> Result<(Claimed, bool)> {
    let transition = decide(state(&before), Actor::Caller, Command::Claim)?;
    let expires_at = from + TimeDelta::seconds(i64::from(lease_seconds));
    let mut events = vec![claimed_event(&mut minter, scope, transition, lease_seconds)];
    // A session that no worker has claimed has waited for nothing.
    let wait = if before.attempt == 0 { None } else { last_wait(tx.conn(), &before).await? };
    let resume = resume_context(tx.conn(), &before, wait, &of_resume).await?;
    let tool_results = of_wait(tx.conn(), &before, wait).await?;
    let (messages, has_more_messages) = messages::of_wait(tx.conn(), &before, wait).await?;
    let answers = answers(tx, &before, (resume.as_ref(), transition.attempt), (&mut minter, &of_answers)).await?;
    let answers = answers.map(|(taken, event)| {
        events.push(event);
        taken
    });
    let denials = denials_for_attempt(tx.conn(), &before).await?;
    let (dependencies, mut children) = related(tx, &before).await?;
    let has_more_children = children.len() > CLAIM_RELATED_MAX as usize;
    children.truncate(CLAIM_RELATED_MAX as usize);
    let context = context(tx, &before, &mut minter, &of_activity).await?;
    let mut context = context.map(|(text, event)| {
        events.push(event);
        text
    });
    // After the recent activity, so that a prompt keeps its beginning from turn to turn.
    let (mut considered, mut rate_memories) = (None, false);
    if let Some((block, event)) = memories(tx, &before, &mut minter, (bounds, learning)).await? {
        events.push(event);
        rate_memories = block.is_rated;
        considered = Some((before.head_sequence + events.len() as u64, block.ranker, block.considered));
        context = Some(context.map_or_else(|| block.text.clone(), |activity| format!("{activity}\n\n{}", block.text)));
    }
    let (has_memories, at) = (considered.is_some(), minter.at());
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
    if let Some((turn, ranker, candidates)) = considered {
        relevance::record_on(tx, &session, turn, (&ranker, &candidates), at).await?;
    }
    let claimed = Claimed {
        session,
        context,
        rate_memories,
        resume,
        tool_results,
        messages,
        has_more_messages,
        answers: answers.unwrap_or_default(),
        denials,
        dependencies,
        children,
        has_more_children,
    };
    Ok((claimed, has_memories))
}

/// Returns the memories for a session, and the event that records them in the log.
async fn memories(
    tx: &mut WriteTx<'_>,
    session: &Session,
    minter: &mut Minter,
    (bounds, (settings, learned)): (MemoryBounds, (Settings, (Rankers, Vectors))),
) -> Result<Option<(MemoryBlock, PreparedEvent)>> {
    let bounds = bounds.of(session.agent_slug.as_deref().unwrap_or_default());
    let learning = Learning::new(settings, learned, || minter.seed());
    let block = memory_block::for_session(tx.conn(), session, (bounds, learning), minter.at()).await?;
    Ok(block.map(|block| {
        let event = minter.event(&block.injected());
        (block, event)
    }))
}

/// Stamps the answer that ended the session's wait, and takes the oldest answers for which it did not wait.
async fn answers(
    tx: &mut WriteTx<'_>,
    session: &Session,
    (resume, attempt): (Option<&Resumed>, u32),
    (minter, delimiter): (&mut Minter, &Delimiter),
) -> Result<Option<(TakenAnswers, PreparedEvent)>> {
    // A session that no worker has claimed has asked no one.
    if session.attempt == 0 {
        return Ok(None);
    }
    if let Some(id) = resume.and_then(|resume| resume.question.as_ref()?.answer_id) {
        store::feedback_request::consume(tx, session.tenant_id, id, (attempt, None), minter.at()).await?;
    }
    take_on(tx, session, (attempt, None), minter, delimiter).await
}

/// Creates the event that records a claim.
fn claimed_event(minter: &mut Minter, scope: &Scope, transition: Transition, lease_seconds: u32) -> PreparedEvent {
    let worker = scope.caller.to_string();
    minter.event(&kind::Claimed { attempt: transition.attempt, worker, lease_seconds })
}

/// Returns the results of related sessions for the worker: those that this session depends on, and those that it
/// started before this claim.
async fn related(tx: &mut WriteTx<'_>, session: &Session) -> Result<(Vec<RelatedSession>, Vec<RelatedSession>)> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    let dependencies = match session.dependency_count {
        0 => Vec::new(),
        _ => related_dependencies(tx.conn(), tenant_id, id, CLAIM_RELATED_MAX, CLAIM_OUTPUT_BYTES_MAX).await?,
    };
    // A session that no worker has claimed has started no other session.
    let children = match session.attempt {
        0 => Vec::new(),
        _ => related_children(tx.conn(), tenant_id, id, CLAIM_RELATED_MAX + 1, CLAIM_OUTPUT_BYTES_MAX).await?,
    };
    Ok((dependencies, children))
}

/// Returns the recent activity of the session's person, and the event that records it in the log.
async fn context(
    tx: &mut WriteTx<'_>,
    session: &Session,
    minter: &mut Minter,
    delimiter: &Delimiter,
) -> Result<Option<(String, PreparedEvent)>> {
    let Some(user_id) = session.user_id else { return Ok(None) };
    let Some((source, activity)) = gather(tx.conn(), session.tenant_id, user_id).await? else { return Ok(None) };
    let text = render(&activity, delimiter);
    let context = Context::RecentActivity { session_id: source };
    let event = minter.event(&ContextInjected { text: text.clone(), context });
    Ok(Some((text, event)))
}
