//! Statistics of a time window: ratings, decisions, waiting times, outcomes and usage.

use crate::{Error, Ledger, Result, feedback, guard::require};
use domain::{
    Scope,
    id::{GateId, InteractionId, SessionId, least_v7},
    insight::{AnswerFact, GateFact, Insights, Ratings, SessionFact, Tally, Window},
    limit::{INSIGHT_DAYS_MAX, INSIGHT_ROWS_MAX},
    role::Permission,
    session::Usage,
};
use std::collections::HashMap;
use store::insight::{Answer, ClosedGate, EndedSession};
use uuid::Uuid;

/// Largest number of rows that one read returns.
const ROWS: u32 = 2_000;

/// Statistics of a window, and whether they are complete.
#[derive(Debug, Clone)]
pub struct InsightsRecord {
    /// The statistics.
    pub insights: Insights,
    /// Whether the window has more than [`INSIGHT_ROWS_MAX`] sessions, gates or answers. If so, only the newest
    /// are counted.
    pub is_cut: bool,
    /// Why the statistics lack ratings; `None` if they are included.
    pub ratings_missing: Option<RatingsMissing>,
}

/// Why ratings could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatingsMissing {
    /// The database of ratings is locked or cannot be reached.
    Unavailable,
    /// The database of ratings is damaged or cannot be opened.
    Unreadable,
}

/// Returns the statistics of the last `days` days, including today: 1 to [`INSIGHT_DAYS_MAX`]. Sessions and
/// gates count if they began and ended in the window, answers if they were completed in it. Everyone who can
/// read the workspace's sessions may read the statistics.
///
/// # Errors
/// [`Error::Invalid`] if `days` is out of range.
pub async fn read_window(ledger: &Ledger, scope: &Scope, days: u32) -> Result<InsightsRecord> {
    require(scope, Permission::Read)?;
    if !(1..=INSIGHT_DAYS_MAX).contains(&days) {
        return Err(Error::invalid("days", format!("must be 1 to {INSIGHT_DAYS_MAX}")));
    }
    let window = Window::ending(ledger.now(), days);
    let mut tally = Tally::new(window);
    let from = least_v7(window.begins());
    let mut ratings_missing = None;
    let mut sessions = Walk::from_newest();
    while let Some((before, limit)) = sessions.next {
        let page = sessions_page(ledger, scope, SessionId(from), SessionId(before), limit).await?;
        sessions.read(page.items.len(), page.items.last().filter(|_| page.has_more).map(|last| last.id.0));
        let ids: Vec<_> = page.items.iter().map(|ended| ended.id).collect();
        let ratings = if ratings_missing.is_none() {
            ratings_of(ledger, &ids).await.map_err(|why| ratings_missing = Some(why)).ok()
        } else {
            None
        };
        for ended in &page.items {
            let ratings = ratings.as_ref().map(|ratings| ratings.get(&ended.id).copied().unwrap_or_default());
            tally.session(&fact_of_session(ended, ratings));
        }
    }
    let mut gates = Walk::from_newest();
    while let Some((before, limit)) = gates.next {
        let page = gates_page(ledger, scope, GateId(from), GateId(before), limit).await?;
        gates.read(page.items.len(), page.items.last().filter(|_| page.has_more).map(|last| last.id.0));
        page.items.iter().for_each(|closed| tally.gate(&fact_of_gate(closed)));
    }
    let mut answers = Walk::from_newest();
    while let Some((before, limit)) = answers.next {
        let page = answers_page(ledger, scope, InteractionId(from), InteractionId(before), limit).await?;
        answers.read(page.items.len(), page.items.last().filter(|_| page.has_more).map(|last| last.id.0));
        page.items.iter().for_each(|answer| tally.answer(&fact_of_answer(answer)));
    }
    let is_cut = sessions.is_cut || gates.is_cut || answers.is_cut;
    Ok(InsightsRecord { insights: tally.finish(), is_cut, ratings_missing })
}

/// Reads the ratings of these sessions. Errors are logged, and the statistics are shown without ratings.
async fn ratings_of(
    ledger: &Ledger,
    ids: &[SessionId],
) -> std::result::Result<HashMap<SessionId, Ratings>, RatingsMissing> {
    feedback::of_sessions(ledger, ids).await.map_err(|error| {
        tracing::warn!(%error, "insights are shown without ratings");
        match error {
            Error::Unavailable(_) => RatingsMissing::Unavailable,
            _ => RatingsMissing::Unreadable,
        }
    })
}

async fn sessions_page(
    ledger: &Ledger,
    scope: &Scope,
    from: SessionId,
    before: SessionId,
    limit: u32,
) -> Result<store::Page<EndedSession>> {
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::insight::sessions(conn, tenant_id, from, before, limit)));
    Ok(read.await?)
}

async fn gates_page(
    ledger: &Ledger,
    scope: &Scope,
    from: GateId,
    before: GateId,
    limit: u32,
) -> Result<store::Page<ClosedGate>> {
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::insight::gates(conn, tenant_id, from, before, limit)));
    Ok(read.await?)
}

async fn answers_page(
    ledger: &Ledger,
    scope: &Scope,
    from: InteractionId,
    before: InteractionId,
    limit: u32,
) -> Result<store::Page<Answer>> {
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::insight::answers(conn, tenant_id, from, before, limit)));
    Ok(read.await?)
}

/// A walk over pages from the newest row backwards, in short transactions, until the end or
/// [`INSIGHT_ROWS_MAX`].
struct Walk {
    /// The id before which the next page begins, and its length.
    next: Option<(Uuid, u32)>,
    rows: u32,
    is_cut: bool,
}

impl Walk {
    fn from_newest() -> Self {
        Self { next: Some((Uuid::max(), ROWS)), rows: 0, is_cut: false }
    }

    fn read(&mut self, rows: usize, more_before: Option<Uuid>) {
        self.rows += u32::try_from(rows).unwrap_or(ROWS);
        let room = INSIGHT_ROWS_MAX.saturating_sub(self.rows);
        self.is_cut = room == 0 && more_before.is_some();
        self.next = more_before.filter(|_| room > 0).map(|before| (before, room.min(ROWS)));
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
