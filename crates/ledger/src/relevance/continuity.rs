//! Scores of sessions that have ended: how well the agent continued from what was known. They are a term of the labels
//! of its memories.

use crate::{
    Ledger, Result,
    lease::Lease,
    memory_writer::{redacted, spent_today},
};
use chrono::TimeDelta;
use domain::{
    id::{SessionId, TenantId},
    limit::{CONTINUITY_CHARS_MAX, CONTINUITY_DAYS, CONTINUITY_SESSIONS_PER_DAY_MAX, CONTINUITY_TURNS_MAX},
    memory_writer::{
        prompt::Prompt,
        turn::{self, Content, KINDS, Taint},
    },
    relevance::{continuity_prompt, continuity_wait},
    untrusted::Delimiter,
};
use store::{Access, Conn, continuity::Answer, memory_writer::Spent};

/// The scoring. Other servers do not score until the lease is over.
const LEASE: Lease = Lease { name: "session-continuity", time: TimeDelta::minutes(5) };

/// A session to be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unscored {
    /// Whose end was not scored yet.
    pub session_id: SessionId,
    /// How often a model was asked about it in vain.
    pub attempts: u32,
    /// What a model is asked about it.
    pub prompt: Prompt,
}

/// Takes the lease on the scoring, so that one of several servers pays for it. Returns false while another has it.
pub async fn lease_scoring(ledger: &Ledger) -> Result<bool> {
    LEASE.take(ledger).await
}

/// The next session of an agent to be scored: one of the last [`CONTINUITY_DAYS`] that has ended and of which a memory
/// was rated or used. One for which the model failed is left out for a while, see [`postpone_score`]. `None` also once
/// [`CONTINUITY_SESSIONS_PER_DAY_MAX`] were scored within 24 hours, or the agent's writer has used `tokens_per_day` on
/// this day (UTC). Secrets in the turns are replaced.
pub async fn next_unscored(
    ledger: &Ledger,
    (tenant_id, agent): (TenantId, &str),
    tokens_per_day: u64,
) -> Result<Option<Unscored>> {
    let (now, agent, delimiter) = (ledger.now(), agent.to_owned(), Delimiter::new(ledger.entropy()));
    let read = ledger.store().read(Access::System, async move |conn| {
        let scored = store::continuity::count_scored(conn, tenant_id, &agent, now - TimeDelta::days(1)).await?;
        if scored >= CONTINUITY_SESSIONS_PER_DAY_MAX {
            return Ok(None);
        }
        let writer = store::memory_writer::find(conn, tenant_id, &agent).await?;
        if writer.is_some_and(|writer| spent_today(writer.spent, now).tokens >= tokens_per_day) {
            return Ok(None);
        }
        let since = now - TimeDelta::days(CONTINUITY_DAYS);
        let next = store::continuity::next_unscored(conn, tenant_id, &agent, (since, now)).await?;
        let Some(next) = next else { return Ok(None) };
        Ok(Some((next, newest_turns(conn, tenant_id, next.session_id).await?)))
    });
    let Some((store::continuity::Unscored { session_id, attempts }, contents)) = read.await? else { return Ok(None) };
    let mut turns: Vec<(Taint, String)> = Vec::new();
    for content in contents {
        turns.push((content.taint, redacted(&content.text)?));
    }
    Ok(Some(Unscored { session_id, attempts, prompt: continuity_prompt(&turns, &delimiter) }))
}

/// The newest turns of a session that fit, the oldest first.
async fn newest_turns(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> store::Result<Vec<Content>> {
    let Some(session) = store::session::find(conn, tenant_id, id).await? else { return Ok(Vec::new()) };
    let end = session.head_sequence + 1;
    let page = store::event::before(conn, tenant_id, id, end, &KINDS.map(str::to_owned), CONTINUITY_TURNS_MAX).await?;
    let mut turns = Vec::new();
    let mut chars = 0;
    for event in page.items.iter().rev() {
        let Some(content) = turn::read(&event.kind, &event.actor, &event.content, &event.metadata, None) else {
            continue;
        };
        chars += content.text.chars().count();
        if chars > CONTINUITY_CHARS_MAX && !turns.is_empty() {
            break;
        }
        turns.push(content);
    }
    turns.reverse();
    Ok(turns)
}

/// Saves the score of a session, or with `None` that the model gave none. The session is not asked about again. The
/// tokens of the answer, input and output together, count towards those of the agent's writer.
pub async fn save_score(
    ledger: &Ledger,
    tenant_id: TenantId,
    (session_id, agent): (SessionId, &str),
    (score, model): (Option<f64>, &str),
    tokens: u64,
) -> Result<()> {
    let (now, agent, model) = (ledger.now(), agent.to_owned(), model.to_owned());
    let written = ledger.write(Access::System, async move |tx| {
        store::continuity::save(tx, tenant_id, (session_id, &agent), (Answer::Final(score), &model), now).await?;
        let day = spent_today(Spent::default(), now).day;
        store::memory_writer::spend(tx, tenant_id, &agent, (day, tokens)).await?;
        Ok(())
    });
    written.await
}

/// Saves that a model did not answer about a session, after as many failed attempts as [`Unscored`] says. It is asked
/// again after [`continuity_wait`]; after the last attempt the session has no score. Other sessions go on meanwhile.
pub async fn postpone_score(
    ledger: &Ledger,
    tenant_id: TenantId,
    (session_id, agent): (SessionId, &str),
    (attempts, model): (u32, &str),
) -> Result<()> {
    let (now, agent, model) = (ledger.now(), agent.to_owned(), model.to_owned());
    let wait = continuity_wait(attempts.saturating_add(1));
    let answer = wait.map_or(Answer::Final(None), |wait| Answer::Missing(now + wait));
    let written = ledger.write(Access::System, async move |tx| {
        store::continuity::save(tx, tenant_id, (session_id, &agent), (answer, &model), now).await?;
        Ok(())
    });
    written.await
}
