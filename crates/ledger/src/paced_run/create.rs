//! Creating a paced run.

use super::read::{PacedRunDetail, detail_on};
use crate::{
    Error, Ledger, Result,
    guard::{Fields, require},
    session::{BulkOutcome, distinct, plan_again_on},
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    clock::to_micros,
    id::{PacedRunId, SessionId},
    limit::{KEY_CHARS_MAX, PACED_RUN_KEPT_DAYS, PACED_RUN_SESSIONS_MAX, PACED_RUNS_OPEN_MAX, PACED_START_DAYS_MAX},
    paced_run::State,
    role::Permission,
};
use store::{PacedRunRecord, WriteTx};

/// The request for a paced run.
#[derive(Debug, Clone)]
pub struct NewPacedRun {
    /// The sessions, which are started in this order: 1 to [`PACED_RUN_SESSIONS_MAX`].
    pub sessions: Vec<SessionId>,
    /// How many of the new sessions are queued or running at a time; `None` for all.
    pub at_a_time: Option<u32>,
    /// Time from which sessions are started; `None` for now. A time that has passed is now.
    pub start_at: Option<Timestamp>,
    /// Key that makes a repeated request return the paced run of the first one.
    pub idempotency_key: Option<String>,
}

/// Makes a paced run. Its first sessions are started by the next sweep after its time.
///
/// # Errors
/// [`Error::Invalid`] for no or too many sessions, sessions of which none can be run again, a wrong pace, and a time
/// that is too far away; [`Error::IdConflict`] if the key made a different paced run; [`Error::LimitReached`] if the
/// workspace has [`PACED_RUNS_OPEN_MAX`] open ones.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewPacedRun) -> Result<PacedRunDetail> {
    require(scope, Permission::StartSession)?;
    let now = ledger.now();
    check(&new, now)?;
    let NewPacedRun { sessions, at_a_time, start_at, idempotency_key } = new;
    let record = PacedRunRecord {
        id: PacedRunId::new(now, ledger.entropy()),
        caller: scope.caller.to_string(),
        idempotency_key,
        at_a_time: at_a_time.unwrap_or(all()),
        start_at: start_at.unwrap_or(now),
        state: State::Open,
        created_at: now,
        ended_at: None,
    };
    let (caller, sessions) = (*scope, distinct(sessions));
    ledger
        .write(scope.into(), async move |tx| {
            let tenant_id = caller.tenant_id;
            // The lock keeps two requests from exceeding the limit together.
            store::user::lock_admins(tx, tenant_id).await?;
            store::paced_run::delete_ended(tx, tenant_id, now - TimeDelta::days(PACED_RUN_KEPT_DAYS)).await?;
            if !store::paced_run::insert(tx, tenant_id, &record).await? {
                let known = repeated(tx, &caller, &record, start_at, &sessions).await?;
                return detail_on(tx.conn(), &caller, known).await;
            }
            if store::paced_run::count_open(tx.conn(), tenant_id).await? > PACED_RUNS_OPEN_MAX {
                let why = format!("a workspace has at most {PACED_RUNS_OPEN_MAX} paced runs that have not ended");
                return Err(Error::LimitReached(why));
            }
            let planned = plan_again_on(tx.conn(), &caller, sessions.clone()).await?;
            if planned.iter().all(|session| session.outcome != BulkOutcome::Ready) {
                return Err(Error::invalid("sessionIds", "at least one session that can be run again"));
            }
            store::paced_run::insert_sessions(tx, tenant_id, record.id, &sessions).await?;
            detail_on(tx.conn(), &caller, record).await
        })
        .await
}

/// The pace of a run whose sessions are all started at once.
fn all() -> u32 {
    u32::try_from(PACED_RUN_SESSIONS_MAX).unwrap_or(u32::MAX)
}

fn check(new: &NewPacedRun, now: Timestamp) -> Result<()> {
    let mut fields = Fields::default();
    if new.sessions.is_empty() || new.sessions.len() > PACED_RUN_SESSIONS_MAX {
        fields.refuse("sessionIds", format!("1 to {PACED_RUN_SESSIONS_MAX} sessions"));
    }
    if new.at_a_time.is_some_and(|at_a_time| at_a_time == 0 || at_a_time > all()) {
        fields.refuse("atATime", format!("1 to {PACED_RUN_SESSIONS_MAX}"));
    }
    if new.start_at.is_some_and(|at| at > now + TimeDelta::days(PACED_START_DAYS_MAX)) {
        fields.refuse("startAt", format!("at most {PACED_START_DAYS_MAX} days from now"));
    }
    fields.key("idempotencyKey", new.idempotency_key.as_deref(), KEY_CHARS_MAX);
    fields.check()
}

/// The paced run that the key of a repeated request made.
async fn repeated(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    new: &PacedRunRecord,
    start_at: Option<Timestamp>,
    sessions: &[SessionId],
) -> Result<PacedRunRecord> {
    let key = new.idempotency_key.as_deref().unwrap_or_default();
    let known = store::paced_run::find_by_key(tx.conn(), scope.tenant_id, key).await?;
    let known = known.ok_or_else(|| Error::Internal("a key is used by a paced run that is not there".to_owned()))?;
    let recorded = store::paced_run::sessions(tx.conn(), scope.tenant_id, known.id).await?;
    let is_same = known.caller == new.caller
        && known.at_a_time == new.at_a_time
        && to_micros(known.start_at) == to_micros(start_at.unwrap_or(known.created_at))
        && recorded.iter().map(|session| session.session_id).eq(sessions.iter().copied());
    if is_same { Ok(known) } else { Err(Error::IdConflict { detail: "this key made a different paced run".into() }) }
}
