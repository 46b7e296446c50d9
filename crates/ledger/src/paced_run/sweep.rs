//! Starting the sessions of paced runs.

use crate::{
    Ledger, Result,
    auth::scope_now,
    session::{BulkOutcome, outcome, plan_again_on, run_once},
};
use domain::{
    Scope,
    id::{PacedRunId, SessionId, TenantId, least_v7},
    limit::PACED_STARTS_MAX,
    paced_run::{Outcome, State},
    session::Status,
};
use store::{Access, PacedRunRecord, paced_run::PacedOutcome};

/// Largest number of paced runs that one read returns.
const BATCH: u32 = 100;
/// Reason of the refusal if the caller has lost the right to start sessions.
const NO_RIGHTS: &str = "the caller may not start sessions any more";

/// The next sessions of a paced run, each with its position.
struct Step {
    run: PacedRunRecord,
    /// The caller with their present rights; `None` if they have none.
    caller: Option<Scope>,
    next: Vec<(i64, SessionId)>,
}

/// Starts sessions of the paced runs whose time has come, as many as their pace allows. Returns how many were started.
/// A run whose sessions cannot be started now does not stop the others.
///
/// Safe to run on several servers at once: two steps of a run start the same sessions with the same keys.
///
/// # Errors
/// The error of a run, after all runs were looked at.
pub async fn sweep(ledger: &Ledger) -> Result<u64> {
    let (mut after, mut started, mut failure) = (None, 0, None);
    loop {
        let now = ledger.now();
        let read =
            ledger.store().read(Access::System, async move |conn| store::paced_run::due(conn, now, after, BATCH).await);
        let due = read.await?;
        for (tenant_id, id) in &due {
            match advance(ledger, *tenant_id, *id).await {
                Ok(count) => started += count,
                Err(error) => failure = Some(error),
            }
        }
        if due.len() < BATCH as usize {
            return failure.map_or(Ok(started), Err);
        }
        after = due.last().copied();
    }
}

/// Starts the next sessions of one paced run. Returns how many were started.
async fn advance(ledger: &Ledger, tenant_id: TenantId, id: PacedRunId) -> Result<u64> {
    let Some(Step { run, caller, next }) = step(ledger, tenant_id, id).await? else { return Ok(0) };
    let outcomes: Vec<PacedOutcome> = match caller {
        Some(caller) => start(ledger, &caller, &run, next).await?,
        None => {
            let refused = |(position, _): (i64, SessionId)| PacedOutcome {
                position,
                outcome: Outcome::Refused,
                new_session_id: None,
                reason: Some(NO_RIGHTS.to_owned()),
            };
            next.into_iter().map(refused).collect()
        }
    };
    let started = outcomes.iter().filter(|session| session.outcome == Outcome::Started).count() as u64;
    let now = ledger.now();
    ledger
        .write((&Scope::system(tenant_id)).into(), async move |tx| {
            for outcome in &outcomes {
                store::paced_run::settle(tx, tenant_id, id, outcome).await?;
            }
            Ok(store::paced_run::finish(tx, tenant_id, id, now).await?)
        })
        .await?;
    Ok(started)
}

/// The sessions that the pace allows to start now; `None` if it allows none.
async fn step(ledger: &Ledger, tenant_id: TenantId, id: PacedRunId) -> Result<Option<Step>> {
    let system = Scope::system(tenant_id);
    let read = ledger.snapshot(&system, async move |conn| {
        let found = store::paced_run::find(conn, tenant_id, id).await?;
        let Some(run) = found.filter(|run| run.state == State::Open) else { return Ok(None) };
        let counts = store::paced_run::counts(conn, tenant_id, &[id]).await?;
        // A session that waits for a person, a tool or others makes room for the next one.
        let counts = counts.iter().filter(|row| row.outcome == Outcome::Started);
        let busy = counts.filter(|row| matches!(row.status, Some(Status::Pending | Status::Running)));
        let busy: u64 = busy.map(|row| row.count).sum();
        let free = run.at_a_time.saturating_sub(u32::try_from(busy).unwrap_or(u32::MAX)).min(PACED_STARTS_MAX);
        if free == 0 {
            return Ok(None);
        }
        let next = store::paced_run::waiting(conn, tenant_id, id, free).await?;
        let caller = scope_now(conn, tenant_id, &run.caller).await?;
        Ok(Some(Step { run, caller, next }))
    });
    read.await
}

/// Starts these sessions with the rights of the caller.
async fn start(
    ledger: &Ledger,
    caller: &Scope,
    run: &PacedRunRecord,
    next: Vec<(i64, SessionId)>,
) -> Result<Vec<PacedOutcome>> {
    let reader = *caller;
    let ids: Vec<SessionId> = next.iter().map(|(_, id)| *id).collect();
    let planned = ledger.snapshot(caller, async move |conn| plan_again_on(conn, &reader, ids).await).await?;
    let mut outcomes = Vec::with_capacity(planned.len());
    for ((position, _), session) in next.into_iter().zip(planned) {
        let done = match session.outcome {
            BulkOutcome::Ready => outcome(run_once(ledger, caller, session.id).await.map(Some))?,
            decided => decided,
        };
        let of = |outcome, new_session_id, reason| PacedOutcome { position, outcome, new_session_id, reason };
        outcomes.push(match done {
            BulkOutcome::Done(new) => of(Outcome::Started, new, None),
            // A step that was interrupted has started it.
            BulkOutcome::Already(Some(new)) if new.0 >= least_v7(run.created_at) => {
                of(Outcome::Started, Some(new), None)
            }
            BulkOutcome::Already(new) => of(Outcome::Already, new, None),
            BulkOutcome::Refused(reason) => of(Outcome::Refused, None, Some(reason)),
            BulkOutcome::Ready => continue,
        });
    }
    Ok(outcomes)
}
