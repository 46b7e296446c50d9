//! Whether an agent's writer has to run, and the lease for it.

use super::{
    budget::used_up,
    finish::lease_from,
    track::track_new,
    window::{self, DueRun, Part, RunWindow},
};
use crate::{Ledger, Result};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    id::TenantId,
    memory_writer::{
        limit::{IDLE_SECONDS_DEFAULT, RUNS_PER_DAY_DEFAULT, TOKENS_PER_DAY_DEFAULT, TURN_THRESHOLD_DEFAULT},
        plan::Policy,
        run::RunCause,
        turn::KINDS,
    },
};
use store::{
    Conn,
    memory_writer::{OpenSession, WriterRecord},
};

/// How long writers wait for an erasure of a person that continues. One that was interrupted does not stop them for
/// good.
const FORGETTING_TIME_MAX: TimeDelta = TimeDelta::minutes(10);

/// How an agent's writer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterTerms {
    /// What is written without a review.
    pub policy: Policy,
    /// Turns past the watermark that start a run.
    pub turn_threshold: u32,
    /// Silence that starts a run, seconds.
    pub idle_seconds: u32,
    /// Most runs on one day.
    pub runs_per_day: u32,
    /// Most tokens on one day.
    pub tokens_per_day: u64,
    /// Number of reviewers who must approve a proposal. With more than one, nothing is written without a review.
    pub approvals: u32,
}

impl Default for WriterTerms {
    fn default() -> Self {
        Self {
            policy: Policy::Review,
            turn_threshold: TURN_THRESHOLD_DEFAULT,
            idle_seconds: IDLE_SECONDS_DEFAULT,
            runs_per_day: RUNS_PER_DAY_DEFAULT,
            tokens_per_day: TOKENS_PER_DAY_DEFAULT,
            approvals: 1,
        }
    }
}

/// Takes the agent's lease and reads the window, if a run is due. Sessions to which no one has written since
/// `left_before` are due at once: a server names its start, for what a crash left, and at its end the present. `None`
/// if nothing is due or another server works for the agent.
pub async fn take(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    terms: &WriterTerms,
    left_before: Option<Timestamp>,
) -> Result<Option<RunWindow>> {
    let scope = Scope::system(tenant_id);
    let (now, terms) = (ledger.now(), *terms);
    let name = agent.to_owned();
    let found = ledger
        .store()
        .read((&scope).into(), async move |conn| store::memory_writer::find(conn, tenant_id, &name).await);
    let found: Option<WriterRecord> = found.await?;
    let tracked_until = found.map_or(now, |writer| writer.tracked_until);
    track_new(ledger, tenant_id, agent, (tracked_until, now)).await?;
    let name = agent.to_owned();
    let due = ledger.snapshot(&scope, async move |conn| {
        let Some(writer) = store::memory_writer::find(conn, tenant_id, &name).await? else {
            return Ok((None, None));
        };
        let mut parts = Vec::new();
        for part in Part::ALL {
            parts.push((part, part.sessions(conn, tenant_id, &name, now).await?));
        }
        parts.retain(|(_, sessions)| !sessions.is_empty());
        let void = writer.flush_at.filter(|_| parts.is_empty());
        Ok((due(conn, tenant_id, &writer, &parts, Conditions { terms: &terms, now, left_before }).await?, void))
    });
    let (due, void) = due.await?;
    if let Some(at) = void {
        // A request with nothing to read must not start a run at the next turn.
        let name = agent.to_owned();
        let forgotten = ledger
            .write((&scope).into(), async move |tx| Ok(store::memory_writer::unflush(tx, tenant_id, &name, at).await?));
        forgotten.await?;
    }
    let Some(due) = due else { return Ok(None) };
    let (name, lease) = (agent.to_owned(), lease_from(ledger, now));
    let taken = ledger.write((&scope).into(), async move |tx| {
        if !store::memory_writer::take(tx, tenant_id, &name, &lease, now).await? {
            return Ok(false);
        }
        // A document that is about to be cleaned must not be shown to the model. This is a statement after the
        // lease is taken, so that it sees every mark whose transaction did not wait for the lease.
        if store::memory_forget::is_running(tx.conn(), tenant_id, now - FORGETTING_TIME_MAX).await? {
            store::memory_writer::release(tx, tenant_id, &name, &lease.owner).await?;
            return Ok(false);
        }
        Ok(true)
    });
    if !taken.await? {
        return Ok(None);
    }
    match window::read(ledger, tenant_id, agent, due, now).await {
        Ok(window) => Ok(Some(RunWindow { approvals: terms.approvals.max(1), ..window })),
        Err(error) => {
            super::release(ledger, tenant_id, agent).await?;
            Err(error)
        }
    }
}

/// What decides whether the writer of an agent has to run.
#[derive(Clone, Copy)]
struct Conditions<'a> {
    terms: &'a WriterTerms,
    now: Timestamp,
    /// Sessions to which no one has written since then are due at once.
    left_before: Option<Timestamp>,
}

/// Returns why a run is due, if it is, and which part it reads: the first that is due. A new conversation that
/// continues, and so is not due yet, keeps neither what a failed run left nor the backlog waiting.
async fn due(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    writer: &WriterRecord,
    parts: &[(Part, Vec<OpenSession>)],
    conditions: Conditions<'_>,
) -> Result<Option<DueRun>> {
    let Conditions { terms, now, .. } = conditions;
    let waits = writer.parked_at.is_some() || writer.retry_at.is_some_and(|at| at > now);
    if waits || used_up(writer.spent, terms, now).is_some() {
        return Ok(None);
    }
    for (part, sessions) in parts {
        let cause = match part {
            Part::New | Part::Backlog => fresh_cause(conn, tenant_id, writer, sessions, conditions).await?,
            Part::Left => {
                let is_ended = sessions.iter().any(|session| session.status.is_final());
                Some(if is_ended && writer.flush_at.is_none() { RunCause::End } else { RunCause::Flush })
            }
        };
        if let Some(cause) = cause {
            return Ok(Some(DueRun { cause, part: *part }));
        }
    }
    Ok(None)
}

/// Returns why a run of these sessions is due, if it is.
async fn fresh_cause(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    writer: &WriterRecord,
    open: &[OpenSession],
    conditions: Conditions<'_>,
) -> Result<Option<RunCause>> {
    let Conditions { terms, now, left_before } = conditions;
    let Some(newest) = open.iter().map(|session| session.updated_at).max() else { return Ok(None) };
    let is_left = left_before.is_some_and(|left| open.iter().any(|session| session.updated_at <= left));
    if is_left || writer.flush_at.is_some() {
        return Ok(Some(RunCause::Flush));
    }
    if open.iter().any(|session| session.status.is_final()) {
        return Ok(Some(RunCause::End));
    }
    if now - newest >= TimeDelta::seconds(terms.idle_seconds.into()) {
        return Ok(Some(RunCause::Idle));
    }
    let threshold = u64::from(terms.turn_threshold);
    let events: u64 = open.iter().map(|session| session.head_sequence - session.sequence).sum();
    if events < threshold {
        return Ok(None);
    }
    let kinds = KINDS.map(str::to_owned);
    let mut turns = 0;
    for session in open {
        let range = (session.sequence, session.head_sequence);
        let page = store::event::after(conn, tenant_id, session.id, range, &kinds, terms.turn_threshold).await?;
        turns += page.items.len() as u64 + u64::from(page.has_more) * threshold;
    }
    Ok((turns >= threshold).then_some(RunCause::Turns))
}
