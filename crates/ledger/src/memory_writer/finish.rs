//! The end of a run: one transaction moves the watermarks, writes the proposals and records the run.

use super::{
    SESSIONS_MAX,
    budget::spent_today,
    window::{self, Part, RunWindow},
};
use crate::{
    Error, Ledger, Result,
    commit::Minter,
    gate::{NewProposal, Origin, propose},
    memory::{NewVersion, Stamp, write_on, written_at},
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    id::{GateId, SessionId, TenantId, new_v7},
    issue::Issue,
    limit::{MEMORY_DOCUMENT_BYTES_MAX, MEMORY_REASON_CHARS_MAX, REASON_CHARS_MAX},
    memory::{Document, Evidence, MemoryPath, Source},
    memory_writer::{
        limit::{BACKOFF_SECONDS, FAILED_RUNS_MAX, FAILURES_MAX, LEASE_SECONDS},
        plan::{Change, Policy},
        run::RunState,
    },
    thread::cut,
};
use store::{
    Conn, WriteTx,
    memory_writer::{
        Lease, RunRecord, SessionFailure, Spent, WatermarkMove, WriterFailure, WriterRecord, WriterSuccess,
    },
};

/// What the model was asked for a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelUsage {
    /// Name of the model.
    pub model: String,
    /// Input tokens of the answers for which the service reported them.
    pub input_tokens: u64,
    /// Output tokens of these answers.
    pub output_tokens: u64,
    /// Whether there is an answer for which it did not. Then the tokens of the run are not known.
    pub is_unreported: bool,
    /// Cost in US dollars, if the tokens and the model's prices are known.
    pub cost_usd: Option<f64>,
}

/// A run whose answer passed every check.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its window and its lease.
    pub run: RunWindow,
    /// The changes, one for each document.
    pub changes: Vec<Change>,
    /// What may be written without a review.
    pub policy: Policy,
    /// What the model was asked.
    pub usage: ModelUsage,
    /// Why operations of its answer were left out.
    pub left_out: Vec<Issue>,
}

/// A run without a usable answer.
#[derive(Debug, Clone)]
pub struct RunFailure {
    /// Its window and its lease.
    pub run: RunWindow,
    /// Reason of the failure, as text for people.
    pub why: String,
    /// Whether the model could not be asked, so that no other window would do better.
    pub is_outage: bool,
    /// What the model was asked.
    pub usage: ModelUsage,
}

/// A change with the ids that its transaction needs.
struct Prepared {
    change: Change,
    transcript: String,
    minter: Minter,
    session_id: SessionId,
    gate_id: GateId,
    stamp: Stamp,
}

/// The row and the limits that both ends of a run share.
struct Ending {
    tenant_id: TenantId,
    agent: String,
    lease: Lease,
    began: Timestamp,
    approvals: u32,
    /// Tokens that count for the budget of the day: those that were reported.
    reported_tokens: u64,
    record: RunRecord,
}

impl Ending {
    fn new(ledger: &Ledger, tenant_id: TenantId, agent: &str, run: &RunWindow, usage: ModelUsage) -> Self {
        let now = ledger.now();
        let record = RunRecord {
            id: new_v7(now, ledger.entropy()),
            agent: agent.to_owned(),
            cause: run.cause,
            state: RunState::Succeeded,
            window: serde_json::to_string(&run.ranges).unwrap_or_default(),
            window_key: run.key(),
            turns: u32::try_from(run.window.turns.len()).unwrap_or(u32::MAX),
            proposals: 0,
            written: 0,
            error: None,
            model: usage.model,
            input_tokens: (!usage.is_unreported).then_some(usage.input_tokens),
            output_tokens: (!usage.is_unreported).then_some(usage.output_tokens),
            cost_usd: usage.cost_usd,
            started_at: run.began,
            ended_at: now,
        };
        Self {
            tenant_id,
            agent: agent.to_owned(),
            lease: lease_from(ledger, now),
            began: run.began,
            approvals: run.approvals,
            reported_tokens: usage.input_tokens + usage.output_tokens,
            record,
        }
    }

    /// Locks the writer and adds this run to what it has spent. Returns that and the writer.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if another server has taken the lease. Then that server does the work.
    async fn lock(&self, tx: &mut WriteTx<'_>) -> Result<(Spent, WriterRecord)> {
        let held = store::memory_writer::hold(tx, self.tenant_id, &self.agent, &self.lease).await?;
        let writer = store::memory_writer::find(tx.conn(), self.tenant_id, &self.agent).await?.filter(|_| held);
        let writer = writer.ok_or_else(|| Error::Unavailable("another server writes this agent's memory".into()))?;
        let mut spent = spent_today(writer.spent, self.record.ended_at);
        spent.runs = spent.runs.saturating_add(u32::from(!self.record.model.is_empty()));
        spent.tokens = spent.tokens.saturating_add(self.reported_tokens);
        Ok((spent, writer))
    }
}

/// Writes a run that succeeded. Returns its row.
///
/// # Errors
/// [`Error::Unavailable`] if the lease was lost or a watermark has moved; those of [`write_on`] for a change without a
/// review. Nothing is written then.
pub async fn finish(ledger: &Ledger, tenant_id: TenantId, agent: &str, finished: Finished) -> Result<RunRecord> {
    let Finished { run, changes, policy, usage, left_out } = finished;
    let mut ending = Ending::new(ledger, tenant_id, agent, &run, usage);
    ending.record.error = note(&left_out);
    let now = ending.record.ended_at;
    let prepare = |change: Change| Prepared {
        transcript: window::transcript(&run.window, &change.turns),
        minter: Minter::new(ledger, now),
        session_id: SessionId::new(now, ledger.entropy()),
        gate_id: GateId::new(now, ledger.entropy()),
        stamp: Stamp::new(ledger),
        change,
    };
    let prepared: Vec<Prepared> = changes.into_iter().map(prepare).collect();
    let ranges = run.ranges;
    let scope = Scope::system(tenant_id);
    let written = ledger.write((&scope).into(), async move |tx| {
        let (spent, writer) = ending.lock(tx).await?;
        for range in ranges {
            let to = WatermarkMove { after: range.after, upto: range.upto, is_open: range.is_open };
            let id = range.session;
            if !store::memory_writer::move_watermark(tx, tenant_id, &ending.agent, id, to).await? {
                return Err(Error::Unavailable(format!("the watermark of session {id} has moved")));
            }
        }
        for prepared in prepared {
            if carry_out(tx, &ending, policy, prepared).await? {
                ending.record.written += 1;
            } else {
                ending.record.proposals += 1;
            }
        }
        // A window without turns is no run, and says nothing of the model.
        let (mut failures, mut failed_runs) = (writer.failures, writer.failed_runs);
        if ending.record.turns > 0 {
            store::memory_writer::insert_run(tx, tenant_id, &ending.record).await?;
            (failures, failed_runs) = (0, 0);
        }
        let served = served(tx.conn(), &ending, writer.flush_at).await?;
        let next = WriterSuccess { served, failures, failed_runs };
        store::memory_writer::finish(tx, tenant_id, &ending.agent, next, spent).await?;
        Ok(ending.record)
    });
    let record = written.await?;
    if record.turns > 0 {
        ledger.activity().writer_ran(record.state);
    }
    Ok(record)
}

/// What the row of a run says of the operations that were left out.
fn note(left_out: &[Issue]) -> Option<String> {
    let named: Vec<String> = left_out.iter().map(|issue| format!("{}: {}", issue.field, issue.message)).collect();
    let note = format!("Left out of the model's answer: {}", named.join("; "));
    (!named.is_empty()).then(|| cut(&note, REASON_CHARS_MAX))
}

/// Returns the time up to which this run serves requests for a run; `None` while conversations are left to which no one
/// has written since the request, because one window does not hold them all. One that continues is due by its own
/// turns.
async fn served(conn: &mut Conn<'_>, ending: &Ending, flush_at: Option<Timestamp>) -> Result<Option<Timestamp>> {
    let Some(asked_at) = flush_at else { return Ok(None) };
    for part in [Part::New, Part::Backlog] {
        let rest = part.sessions(conn, ending.tenant_id, &ending.agent, ending.record.ended_at).await?;
        if rest.iter().any(|session| session.updated_at <= asked_at) {
            return Ok(None);
        }
    }
    Ok(Some(ending.began))
}

/// Writes a change, or opens a proposal. Returns whether it was written.
async fn carry_out(tx: &mut WriteTx<'_>, ending: &Ending, policy: Policy, prepared: Prepared) -> Result<bool> {
    let Prepared { mut change, transcript, minter, session_id, gate_id, stamp } = prepared;
    let tenant_id = ending.tenant_id;
    for contradiction in std::mem::take(&mut change.contradictions) {
        let about = (ending.agent.as_str(), contradiction.path.as_str());
        let since = written_at(tx.conn(), tenant_id, about, &contradiction.existing).await?;
        change.flags.push(contradiction.flag(since));
    }
    if ending.approvals == 1 && change.is_automatic(policy) && write_now(tx, ending, &change, stamp).await? {
        return Ok(true);
    }
    let (agent, origin) = (ending.agent.clone(), Origin::Run(ending.record.id.to_string()));
    let quorum = ending.approvals;
    let new = NewProposal { tenant_id, session_id, gate_id, agent, change, origin, transcript, quorum };
    propose(tx, new, minter).await?;
    Ok(false)
}

/// Writes a change without a review. Returns `false` if the document has changed since the model saw it, or if it or
/// the agent's memory would become too long.
async fn write_now(tx: &mut WriteTx<'_>, ending: &Ending, change: &Change, stamp: Stamp) -> Result<bool> {
    let tenant_id = ending.tenant_id;
    let path = MemoryPath::parse(&change.path).map_err(|why| Error::Internal(why.to_string()))?;
    store::memory::lock_agent(tx, tenant_id, &ending.agent, stamp.at).await?;
    let found = store::memory::find_by_path(tx.conn(), tenant_id, &ending.agent, &path).await?;
    let live = found.filter(|found| !found.is_deleted);
    if live.as_ref().map_or(0, |live| live.version) != change.base_version {
        return Ok(false);
    }
    let current = match &live {
        Some(live) => store::memory::text(tx.conn(), tenant_id, live.id, live.version).await?,
        None => None,
    };
    let front_matter = current.and_then(|current| current.document.front_matter);
    let text = Document { front_matter: front_matter.clone(), body: change.body.clone() }.to_text();
    if text.len() > MEMORY_DOCUMENT_BYTES_MAX {
        return Ok(false);
    }
    let offset = front_matter.as_deref().map_or(0, |front| front.lines().count() + 2);
    let offset = u32::try_from(offset).unwrap_or(u32::MAX);
    let evidence = change.evidence.iter().map(|one| Evidence {
        line: one.line.saturating_add(offset),
        session: one.session,
        sequence: one.sequence,
    });
    let new = NewVersion {
        agent: ending.agent.clone(),
        path,
        base_version: change.base_version,
        evidence: evidence.collect(),
        text,
        source: Source::MemoryWriter,
        author: Caller::System.to_string(),
        reason: cut(&change.reason.replace('\n', " "), MEMORY_REASON_CHARS_MAX),
    };
    match write_on(tx, tenant_id, stamp, new).await {
        Ok(_) => Ok(true),
        // A reviewer learns it. An error would end the run without a record, and the model would be asked the same
        // every two seconds, beyond every budget.
        Err(Error::LimitReached(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Records a run that failed. The watermarks stay. A window of several sessions is tried again in halves, so that the
/// session that makes it fail is found and holds no other. A session that was alone is tried again later, and is parked
/// after [`FAILURES_MAX`] failures in a row; the writer continues with other sessions. After [`FAILED_RUNS_MAX`] failed
/// runs in a row, of whatever sessions, the writer is parked. After an outage the writer waits as a whole, and is
/// parked after [`FAILURES_MAX`] of them in a row. An outage of a window that comes after new sessions is a failure of
/// that window too: new sessions that succeed end the outage, and it would be tried without end.
///
/// # Errors
/// [`Error::Unavailable`] if the lease was lost.
pub async fn fail(ledger: &Ledger, tenant_id: TenantId, agent: &str, failure: RunFailure) -> Result<RunRecord> {
    let RunFailure { run, why, is_outage, usage } = failure;
    let mut ending = Ending::new(ledger, tenant_id, agent, &run, usage);
    // Sessions of which there was nothing to read are at no fault.
    let sessions: Vec<SessionId> = run.window.sessions.iter().map(|(_, id)| *id).collect();
    let is_after_new = run.is_after_new;
    let scope = Scope::system(tenant_id);
    let recorded = ledger.write((&scope).into(), async move |tx| {
        let (spent, writer) = ending.lock(tx).await?;
        let now = ending.record.ended_at;
        let (next, is_parked) = if is_outage {
            let is_parked = is_after_new && leave(tx, &ending, &sessions).await?;
            let NextTry { failures, retry_at, parked_at } = next_try(writer.failures, now);
            let next = WriterFailure { retry_at, failures, failed_runs: writer.failed_runs, parked_at };
            (next, parked_at.is_some() || is_parked)
        } else {
            let is_parked = leave(tx, &ending, &sessions).await?;
            let failed_runs = writer.failed_runs.saturating_add(1);
            // Then it is the model or its settings, and every further session would be parked too.
            let is_whole = failed_runs >= FAILED_RUNS_MAX;
            let (failures, parked_at) = if is_whole { (failed_runs, Some(now)) } else { (0, None) };
            (WriterFailure { retry_at: None, failures, failed_runs, parked_at }, is_parked || is_whole)
        };
        ending.record.state = if is_parked { RunState::Parked } else { RunState::Failed };
        ending.record.error = Some(cut(&why, REASON_CHARS_MAX));
        store::memory_writer::insert_run(tx, tenant_id, &ending.record).await?;
        store::memory_writer::fail(tx, tenant_id, &ending.agent, next, spent).await?;
        Ok(ending.record)
    });
    let record = recorded.await?;
    ledger.activity().writer_ran(record.state);
    Ok(record)
}

/// Postpones the sessions of a failed run. A single session waits for its next try; several wait until they are
/// retried in halves. Returns whether the single session is parked.
async fn leave(tx: &mut WriteTx<'_>, ending: &Ending, sessions: &[SessionId]) -> Result<bool> {
    let (tenant_id, agent, now) = (ending.tenant_id, ending.agent.as_str(), ending.record.ended_at);
    let failure = if let [alone] = sessions {
        let before = store::memory_writer::session_failures(tx.conn(), tenant_id, agent, *alone).await?;
        let NextTry { failures, retry_at, parked_at } = next_try(before, now);
        SessionFailure { window_max: 1, failures, retry_at, parked_at }
    } else {
        let window_max = u32::try_from(sessions.len().div_ceil(2)).unwrap_or(SESSIONS_MAX);
        SessionFailure { window_max, failures: 0, retry_at: next_try(0, now).retry_at, parked_at: None }
    };
    for id in sessions.iter().copied() {
        store::memory_writer::fail_session(tx, tenant_id, agent, id, failure).await?;
    }
    Ok(failure.parked_at.is_some())
}

/// What follows a failure.
struct NextTry {
    /// Failures in a row, with this one.
    failures: u32,
    /// Time of the next try (UTC); `None` if it is parked.
    retry_at: Option<Timestamp>,
    /// Time from which it is parked (UTC).
    parked_at: Option<Timestamp>,
}

/// What follows one more failure at `now`, after so many `before`.
fn next_try(before: u32, now: Timestamp) -> NextTry {
    let pause = BACKOFF_SECONDS.get(before as usize).copied().unwrap_or(BACKOFF_SECONDS[1]);
    let failures = before.saturating_add(1);
    if failures >= FAILURES_MAX {
        return NextTry { failures, retry_at: None, parked_at: Some(now) };
    }
    NextTry { failures, retry_at: Some(now + TimeDelta::seconds(pause.into())), parked_at: None }
}

/// The lease that this server takes or extends at `now`.
pub(super) fn lease_from(ledger: &Ledger, now: Timestamp) -> Lease {
    Lease { owner: ledger.instance().to_owned(), until: now + TimeDelta::seconds(LEASE_SECONDS.into()) }
}

/// Extends the agent's lease while a run continues. Returns `false` if another server has taken it.
pub async fn hold(ledger: &Ledger, tenant_id: TenantId, agent: &str) -> Result<bool> {
    let (scope, agent, lease) = (Scope::system(tenant_id), agent.to_owned(), lease_from(ledger, ledger.now()));
    let held = ledger
        .write((&scope).into(), async move |tx| Ok(store::memory_writer::hold(tx, tenant_id, &agent, &lease).await?));
    held.await
}

/// Gives the agent's lease up, if this server holds it.
pub async fn release(ledger: &Ledger, tenant_id: TenantId, agent: &str) -> Result<()> {
    let (scope, agent, owner) = (Scope::system(tenant_id), agent.to_owned(), ledger.instance().to_owned());
    let released = ledger.write((&scope).into(), async move |tx| {
        Ok(store::memory_writer::release(tx, tenant_id, &agent, &owner).await?)
    });
    released.await
}
