//! Asking for a run, and reading the results of runs.

use super::{
    WriterTerms,
    budget::{FlushWait, LOOKED_WITHIN, is_at_work, waits},
    track::{PART, first_found},
};
use crate::{
    Error, Ledger, Result,
    guard::{require, require_for},
};
use domain::{Scope, Timestamp, id::least_v7, role::Permission, slug::is_slug};
use store::memory_writer::{RunRecord, WriterRecord};

/// Most runs of one answer.
pub(crate) const RUNS_MAX: u32 = 50;

/// The result of a request for a run. The request is stored in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flushed {
    /// Whether a running server has a writer for the agent.
    pub has_writer: bool,
    /// Why the run does not begin within seconds; `None` if it does.
    pub waits: Option<FlushWait>,
}

/// Asks for a run of an agent's writer, also of windows that were parked. A run begins within seconds on a server that
/// has the writer's model, if the budget of the day allows it. `terms` are those of this server's writer for the agent.
/// A repeat asks for one run.
///
/// # Errors
/// [`Error::NotFound`] for a text that is not the slug of an agent.
pub async fn flush(ledger: &Ledger, scope: &Scope, agent: &str, terms: Option<WriterTerms>) -> Result<Flushed> {
    may_ask(scope, agent)?;
    let (tenant_id, agent, now) = (scope.tenant_id, agent.to_owned(), ledger.now());
    let asked = ledger.write(scope.into(), async move |tx| {
        let found = store::memory_writer::find(tx.conn(), tenant_id, &agent).await?;
        // A row that a request makes is not one of a server that looks for work.
        store::memory_writer::ensure(tx, tenant_id, &agent, now - LOOKED_WITHIN).await?;
        store::memory_writer::flush(tx, tenant_id, &agent, now).await?;
        store::memory_writer::free_sessions(tx, tenant_id, &agent).await?;
        let (has_writer, waits) = (is_at_work(found.as_ref(), now), waits(found.as_ref(), terms.as_ref(), now));
        Ok(Flushed { has_writer, waits })
    });
    asked.await
}

/// Lets an agent's writer also read its sessions that began at `since` or later, however long before the writer's first
/// start, or while it was off: after those that it finds by itself, which do not wait for them. Returns the number of
/// sessions that it had not read. Incognito sessions are not among them. If it is interrupted, the next call does the
/// rest.
///
/// # Errors
/// [`Error::NotFound`] for a text that is not the slug of an agent.
pub async fn read_since(ledger: &Ledger, scope: &Scope, agent: &str, since: Timestamp) -> Result<u64> {
    may_ask(scope, agent)?;
    let (tenant_id, now, mut added, mut from) = (scope.tenant_id, ledger.now(), 0, Some(least_v7(since)));
    while let Some(first) = from {
        let agent = agent.to_owned();
        let part = ledger.write((&Scope::system(tenant_id)).into(), async move |tx| {
            let writer = store::memory_writer::find(tx.conn(), tenant_id, &agent).await?;
            let found_from = first_found(writer.map_or(now, |writer| writer.tracked_until), now);
            Ok(store::memory_writer::track_part(tx, tenant_id, &agent, (first, found_from), PART).await?)
        });
        let (more, next) = part.await?;
        added += more;
        from = next;
    }
    Ok(added)
}

fn may_ask(scope: &Scope, agent: &str) -> Result<()> {
    require_for(scope, Permission::ManageSessions, "only operators and admins can ask for a run of a memory writer")?;
    if is_slug(agent) { Ok(()) } else { Err(Error::NotFound("agent")) }
}

/// Returns the newest runs of an agent's writer, newest first.
pub async fn runs(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<Vec<RunRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger
        .snapshot(scope, async move |conn| Ok(store::memory_writer::runs(conn, tenant_id, &agent, RUNS_MAX).await?));
    read.await
}

/// Returns the state of an agent's writer.
///
/// # Errors
/// [`Error::NotFound`] if the agent has no writer.
pub async fn status(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<WriterRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let found = store::memory_writer::find(conn, tenant_id, &agent).await?;
        found.ok_or(Error::NotFound("memory writer"))
    });
    read.await
}
