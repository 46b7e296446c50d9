//! Statistics of a time window: ratings, decisions, waiting times, outcomes and usage.

pub use crate::feedback::RatingsMissing;
use crate::{Error, Ledger, Result, feedback, guard::require};
use domain::{
    Scope,
    id::{GateId, InteractionId, SessionId, TenantId, least_v7},
    insight::{AnswerFact, GateFact, Insights, Ratings, SessionFact, Tally, ToolFact, Window},
    limit::{INSIGHT_DAYS_MAX, INSIGHT_ROWS_MAX},
    role::Permission,
    session::Usage,
    tool::run::of_agent,
};
use store::{
    Conn, Page,
    insight::{Answer, ClosedGate, EndedSession, EndedToolSession},
    memory_writer::RunTotals,
};
use uuid::Uuid;

/// Largest number of rows that one read returns.
const ROWS: u32 = 2_000;

/// Statistics of a window, and whether they are complete.
#[derive(Debug, Clone)]
pub struct InsightsRecord {
    /// Figures of the window in total, by day, by agent and by action.
    pub insights: Insights,
    /// Whether the window has more than [`INSIGHT_ROWS_MAX`] sessions, gates, answers or runs. If so, only the newest
    /// are counted.
    pub is_cut: bool,
    /// Why the statistics lack ratings; `None` if they are included.
    pub ratings_missing: Option<RatingsMissing>,
    /// What the memory writers of agents used, by agent.
    pub writers: Vec<RunTotals>,
}

/// The newest rows of a window, which one snapshot reads. Older rows are read in short transactions.
pub(crate) struct NewestRows {
    sessions: Page<EndedSession>,
    gates: Page<ClosedGate>,
    answers: Page<Answer>,
    tool_runs: Page<EndedToolSession>,
    writers: Vec<RunTotals>,
}

/// Returns the statistics of the last `days` days, including today: 1 to [`INSIGHT_DAYS_MAX`]. Sessions and
/// gates count if they began and ended in the window, answers if they were completed in it. Everyone who can
/// read the workspace's sessions may read the statistics.
///
/// # Errors
/// [`Error::Invalid`] if `days` is out of range.
pub async fn read_window(ledger: &Ledger, scope: &Scope, days: u32) -> Result<InsightsRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, window) = (scope.tenant_id, window(ledger, days)?);
    let newest = ledger.snapshot(scope, async move |conn| newest_on(conn, tenant_id, window).await).await?;
    count(ledger, scope, window, newest).await
}

/// Returns the window of the last `days` days.
///
/// # Errors
/// [`Error::Invalid`] if `days` is out of range.
pub(crate) fn window(ledger: &Ledger, days: u32) -> Result<Window> {
    if !(1..=INSIGHT_DAYS_MAX).contains(&days) {
        return Err(Error::invalid("days", format!("must be 1 to {INSIGHT_DAYS_MAX}")));
    }
    Ok(Window::ending(ledger.now(), days))
}

/// Reads the newest rows of a window.
pub(crate) async fn newest_on(conn: &mut Conn<'_>, tenant_id: TenantId, window: Window) -> Result<NewestRows> {
    let (from, before) = (least_v7(window.begins()), Uuid::max());
    Ok(NewestRows {
        sessions: store::insight::sessions(conn, tenant_id, SessionId(from), SessionId(before), ROWS).await?,
        gates: store::insight::gates(conn, tenant_id, GateId(from), GateId(before), ROWS).await?,
        answers: store::insight::answers(conn, tenant_id, InteractionId(from), InteractionId(before), ROWS).await?,
        tool_runs: store::insight::tool_runs(conn, tenant_id, SessionId(from), SessionId(before), ROWS).await?,
        writers: store::memory_writer::totals(conn, tenant_id, from).await?,
    })
}

/// Counts the newest rows of a window, and the older ones that it reads.
pub(crate) async fn count(
    ledger: &Ledger,
    scope: &Scope,
    window: Window,
    newest: NewestRows,
) -> Result<InsightsRecord> {
    let mut tally = Tally::new(window);
    let from = least_v7(window.begins());
    let mut ratings_missing = None;
    let (mut sessions, mut page) = (Walk::default(), Some(newest.sessions));
    while let Some(ended) = page {
        let ids: Vec<_> = ended.items.iter().map(|ended| ended.id).collect();
        let ratings = if ratings_missing.is_none() {
            feedback::of_sessions(ledger, &ids).await.map_err(|why| ratings_missing = Some(why)).ok()
        } else {
            None
        };
        for ended in &ended.items {
            let ratings = ratings.as_ref().map(|ratings| ratings.get(&ended.id).copied().unwrap_or_default());
            tally.session(&fact_of_session(ended, ratings));
        }
        page = match sessions.next(&ended, |last| last.id.0) {
            Some((before, limit)) => {
                Some(sessions_page(ledger, scope, SessionId(from), SessionId(before), limit).await?)
            }
            None => None,
        };
    }
    let (mut gates, mut page) = (Walk::default(), Some(newest.gates));
    while let Some(closed) = page {
        closed.items.iter().for_each(|closed| tally.gate(&fact_of_gate(closed)));
        page = match gates.next(&closed, |last| last.id.0) {
            Some((before, limit)) => Some(gates_page(ledger, scope, GateId(from), GateId(before), limit).await?),
            None => None,
        };
    }
    let (mut answers, mut page) = (Walk::default(), Some(newest.answers));
    while let Some(answered) = page {
        answered.items.iter().for_each(|answer| tally.answer(&fact_of_answer(answer)));
        page = match answers.next(&answered, |last| last.id.0) {
            Some((before, limit)) => {
                Some(answers_page(ledger, scope, InteractionId(from), InteractionId(before), limit).await?)
            }
            None => None,
        };
    }
    let runs_cut = count_tool_runs(ledger, scope, &mut tally, (SessionId(from), newest.tool_runs)).await?;
    let is_cut = sessions.is_cut || gates.is_cut || answers.is_cut || runs_cut;
    Ok(InsightsRecord { insights: tally.finish(), is_cut, ratings_missing, writers: newest.writers })
}

/// Counts the newest runs of tools, and the older ones that it reads. Returns whether there are more than are counted.
async fn count_tool_runs(
    ledger: &Ledger,
    scope: &Scope,
    tally: &mut Tally,
    (from, newest): (SessionId, Page<EndedToolSession>),
) -> Result<bool> {
    let (mut walk, mut page, tenant_id) = (Walk::default(), Some(newest), scope.tenant_id);
    while let Some(ended) = page {
        ended.items.iter().filter_map(fact_of_tool).for_each(|fact| tally.tool(&fact));
        page = match walk.next(&ended, |last| last.id.0) {
            Some((before, limit)) => {
                let read = ledger.store().read(scope.into(), async move |conn| {
                    store::insight::tool_runs(conn, tenant_id, from, SessionId(before), limit).await
                });
                Some(read.await?)
            }
            None => None,
        };
    }
    Ok(walk.is_cut)
}

async fn sessions_page(
    ledger: &Ledger,
    scope: &Scope,
    from: SessionId,
    before: SessionId,
    limit: u32,
) -> Result<Page<EndedSession>> {
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::insight::sessions(conn, tenant_id, from, before, limit).await);
    Ok(read.await?)
}

async fn gates_page(
    ledger: &Ledger,
    scope: &Scope,
    from: GateId,
    before: GateId,
    limit: u32,
) -> Result<Page<ClosedGate>> {
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::insight::gates(conn, tenant_id, from, before, limit).await);
    Ok(read.await?)
}

async fn answers_page(
    ledger: &Ledger,
    scope: &Scope,
    from: InteractionId,
    before: InteractionId,
    limit: u32,
) -> Result<Page<Answer>> {
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::insight::answers(conn, tenant_id, from, before, limit).await);
    Ok(read.await?)
}

/// A walk over pages from the newest row backwards, until the end or [`INSIGHT_ROWS_MAX`].
#[derive(Default)]
struct Walk {
    rows: u32,
    is_cut: bool,
}

impl Walk {
    /// Counts the rows of a page. Returns the id before which the next page begins, and the length of that page.
    fn next<T>(&mut self, page: &Page<T>, id: impl FnOnce(&T) -> Uuid) -> Option<(Uuid, u32)> {
        self.rows += u32::try_from(page.items.len()).unwrap_or(ROWS);
        let room = INSIGHT_ROWS_MAX.saturating_sub(self.rows);
        let more = page.items.last().filter(|_| page.has_more).map(id);
        self.is_cut = room == 0 && more.is_some();
        more.filter(|_| room > 0).map(|before| (before, room.min(ROWS)))
    }
}

fn fact_of_session(ended: &EndedSession, ratings: Option<Ratings>) -> SessionFact<'_> {
    SessionFact {
        ended_at: ended.ended_at,
        status: ended.status,
        agent: ended.agent_slug.as_deref(),
        action: ended.action_slug.as_deref(),
        usage: Usage::read(ended.usage.as_deref()),
        ratings,
    }
}

/// The run of a tool of the workspace; `None` for another session of the type.
fn fact_of_tool(ended: &EndedToolSession) -> Option<ToolFact<'_>> {
    let (_, slug) = of_agent(&ended.agent_slug)?;
    Some(ToolFact {
        slug,
        started_at: ended.started_at,
        ended_at: ended.ended_at,
        status: ended.status,
        usage: Usage::read(ended.usage.as_deref()),
    })
}

fn fact_of_answer(answer: &Answer) -> AnswerFact<'_> {
    AnswerFact {
        at: answer.at,
        outcome: answer.outcome,
        agent: answer.agent_slug.as_deref(),
        action: answer.action_slug.as_deref(),
    }
}

fn fact_of_gate(closed: &ClosedGate) -> GateFact<'_> {
    GateFact {
        opened_at: closed.opened_at,
        closed_at: closed.closed_at,
        state: closed.state,
        outcome: closed.outcome,
        agent: closed.agent_slug.as_deref(),
        action: closed.action_slug.as_deref(),
    }
}
