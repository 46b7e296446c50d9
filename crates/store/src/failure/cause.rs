//! Rows of `failure_causes` and `caused_failures`: the causes of failures, and which failure has which.
//!
//! Failures of sessions that only their own person can see have no cause, so no statement here finds them.

use super::{FailureRecord, Row, failure_select};
use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    // `has` and `is_among` are made of the others, which are looked up where they are used.
    session::{Among, Contains, group_values, groups, has, is_among, values},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    failure::cause::{CauseState, Fingerprint, Opening, RULE, Span},
    id::{CauseId, EventId, SessionId, TenantId},
    limit::{CAUSE_FAILURES_MAX, CAUSE_TREND_PARTS},
    session::Session,
};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

// $failures is the number of failures that a row shows, and $rest follows the columns.
macro_rules! cause_select {
    ($failures:expr, $rest:expr) => {
        concat!(
            "SELECT c.id, c.code, c.tool, c.step, c.message, c.state, c.snoozed_until, c.decided_by, c.decided_at, ",
            $failures,
            " AS failures, \
             (SELECT MIN(m.at) FROM caused_failures m WHERE m.tenant_id = c.tenant_id AND m.cause_id = c.id) AS first_at, \
             (SELECT MAX(m.at) FROM caused_failures m WHERE m.tenant_id = c.tenant_id AND m.cause_id = c.id) AS last_at, \
             (SELECT MIN(m.at) FROM caused_failures m WHERE m.tenant_id = c.tenant_id AND m.cause_id = c.id \
             AND m.at > c.decided_at) AS back_at ",
            $rest
        )
    };
}
// As `domain::failure::cause::state::current`. $now is the bind of the time.
macro_rules! current_state {
    ($now:literal) => {
        concat!(
            "CASE WHEN c.state = 'snoozed' AND c.snoozed_until <= ",
            $now,
            " THEN 'open' WHEN c.state = 'resolved' AND EXISTS (SELECT 1 FROM caused_failures m \
             WHERE m.tenant_id = c.tenant_id AND m.cause_id = c.id AND m.at > c.decided_at) THEN 'open' ELSE c.state END"
        )
    };
}
macro_rules! parts_select {
    ($causes:literal) => {
        concat!(
            "SELECT cause_id, agent_slug, CAST((at - $3) * $5 / ($4 - $3) AS bigint), COUNT(*) FROM caused_failures \
             WHERE tenant_id = $1 AND cause_id ",
            $causes,
            " AND at >= $3 AND at < $4 GROUP BY 1, 2, 3"
        )
    };
}

// Whether a cause has the texts ($10, $11), and in the range a failure by one of the agents ($12) that are not left out
// ($13).
macro_rules! matching_cause {
    ($engine:ident) => {
        concat!(
            has!(
                $engine,
                "c.code || ' ' || COALESCE(c.tool || ' ', '') || COALESCE(c.step || ' ', '') || c.message",
                "$10",
                "$11"
            ),
            " AND EXISTS (SELECT 1 FROM caused_failures a WHERE a.tenant_id = $1 AND a.cause_id = c.id \
             AND a.at >= $2 AND a.at < $3",
            is_among!($engine, "a.agent_slug", "$12", "$13"),
            ")"
        )
    };
}
macro_rules! list_select {
    ($engine:ident) => {
        cause_select!(
            "g.failures",
            concat!(
                "FROM (SELECT n.cause_id, COUNT(*) AS failures, MAX(n.at) AS newest_at FROM (SELECT cause_id, at \
                 FROM caused_failures WHERE tenant_id = $1 AND at >= $2 AND at < $3 ORDER BY at DESC LIMIT $4) n \
                 GROUP BY n.cause_id) g JOIN failure_causes c ON c.tenant_id = $1 AND c.id = g.cause_id \
                 WHERE (g.newest_at < $5 OR (g.newest_at = $5 AND c.id < $6) OR $5 IS NULL) AND (",
                current_state!("$8"),
                " = $7 OR $7 IS NULL)",
                matching_cause!($engine),
                " ORDER BY g.newest_at DESC, c.id DESC LIMIT $9"
            )
        )
    };
}

macro_rules! members_select {
    ($sessions:literal) => {
        concat!(
            "SELECT session_id FROM caused_failures WHERE tenant_id = $1 AND cause_id = $2 AND session_id ",
            $sessions
        )
    };
}
macro_rules! retries_select {
    ($sessions:literal) => {
        concat!(
            "SELECT s.id, (SELECT r.id FROM sessions r WHERE r.tenant_id = s.tenant_id AND r.retry_of = s.id \
             ORDER BY r.id DESC LIMIT 1) FROM sessions s WHERE s.tenant_id = $1 AND s.id ",
            $sessions
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO failure_causes (tenant_id, id, rule, code, tool, step, message) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant_id, id) DO NOTHING";
    // Keeps the cause from being deleted before its failure is added.
    const SHARE_POSTGRES: &str = "SELECT rule FROM failure_causes WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE";
    const LOCK_POSTGRES: &str = "SELECT rule FROM failure_causes WHERE tenant_id = $1 AND id = $2 FOR UPDATE";
    const ADD: &str = "INSERT INTO caused_failures (tenant_id, failure_id, session_id, cause_id, agent_slug, at, rule) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (tenant_id, failure_id) DO UPDATE SET cause_id = excluded.cause_id, rule = excluded.rule";
    // Whether a resolved cause has this failure ($4, at $3) as its first one since.
    const IS_BACK: &str = "SELECT 1 FROM failure_causes c WHERE c.tenant_id = $1 AND c.id = $2 AND c.state = 'resolved' \
         AND c.decided_at < $3 AND NOT EXISTS (SELECT 1 FROM caused_failures m WHERE m.tenant_id = $1 \
         AND m.cause_id = $2 AND m.at > c.decided_at AND m.failure_id <> $4)";
    const INHERIT: &str = "UPDATE failure_causes SET state = o.state, snoozed_until = o.snoozed_until, \
         decided_by = o.decided_by, decided_at = o.decided_at FROM failure_causes o \
         WHERE failure_causes.tenant_id = $1 AND failure_causes.id = $2 AND o.tenant_id = $1 AND o.id = $3";
    const CAUSE_OF_SESSION: &str = "SELECT cause_id FROM caused_failures WHERE tenant_id = $1 AND session_id = $2";
    const REMOVE: &str = "DELETE FROM caused_failures WHERE tenant_id = $1 AND session_id = $2";
    const DELETE_UNUSED: &str = "DELETE FROM failure_causes WHERE tenant_id = $1 AND id = $2 \
         AND NOT EXISTS (SELECT 1 FROM caused_failures m WHERE m.tenant_id = $1 AND m.cause_id = $2)";
    const LIST_SQLITE: &str = list_select!(sqlite);
    const LIST_POSTGRES: &str = list_select!(postgres);
    const NEWEST_IN_SPAN: &str = "SELECT MAX(at) FROM caused_failures \
         WHERE tenant_id = $1 AND cause_id = $2 AND at >= $3 AND at < $4";
    const BY_ID: &str = cause_select!(
        "(SELECT COUNT(*) FROM caused_failures m WHERE m.tenant_id = c.tenant_id AND m.cause_id = c.id \
         AND m.at >= $3 AND m.at < $4)",
        "FROM failure_causes c WHERE c.tenant_id = $1 AND c.id = $2"
    );
    const PARTS_SQLITE: &str = parts_select!("IN (SELECT unhex(value) FROM json_each($2))");
    const PARTS_POSTGRES: &str = parts_select!("= ANY($2)");
    const SESSIONS: &str = failure_select!(
        "AND f.id IN (SELECT failure_id FROM (SELECT m.failure_id FROM caused_failures m WHERE m.tenant_id = $1 \
         AND m.cause_id = $2 AND (m.at < $3 OR (m.at = $3 AND m.failure_id < $4) OR $3 IS NULL) \
         ORDER BY m.at DESC, m.failure_id DESC LIMIT $5) AS newest) ORDER BY f.at DESC, f.id DESC"
    );
    const RETRIES_SQLITE: &str = retries_select!("IN (SELECT unhex(value) FROM json_each($2))");
    const RETRIES_POSTGRES: &str = retries_select!("= ANY($2)");
    const MEMBERS_SQLITE: &str = members_select!("IN (SELECT unhex(value) FROM json_each($3))");
    const MEMBERS_POSTGRES: &str = members_select!("= ANY($3)");
    // Sessions that were run again already are left out, so that a repeat goes on with those that are left.
    const TO_RUN_AGAIN: &str = "SELECT m.session_id FROM caused_failures m WHERE m.tenant_id = $1 AND m.cause_id = $2 \
         AND m.at >= $3 AND m.at < $4 AND NOT EXISTS (SELECT 1 FROM sessions r \
         WHERE r.tenant_id = m.tenant_id AND r.retry_of = m.session_id) ORDER BY m.at, m.failure_id LIMIT $5";
    const ALIKE: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM caused_failures WHERE tenant_id = $1 AND cause_id = $2 LIMIT $3) n";
    const DECIDE: &str = "UPDATE failure_causes SET state = $3, snoozed_until = $4, decided_by = $5, decided_at = $6 \
         WHERE tenant_id = $1 AND id = $2";
}

record! {
    /// A cause with what its failures are counted by.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CauseRecord of "failure_causes" {
        /// Id of the cause.
        pub id: CauseId,
        /// Error code of its failures.
        pub code: String,
        /// Tool whose call failed.
        pub tool: Option<String>,
        /// Step that had started and not completed.
        pub step: Option<String>,
        /// Message without what differs between two failures.
        pub message: String,
        /// State that was decided last.
        pub state: CauseState,
        /// End of a snooze (UTC).
        pub snoozed_until: Option<Timestamp>,
        /// Who decided last.
        pub decided_by: Option<String>,
        /// Time of the last decision (UTC).
        pub decided_at: Option<Timestamp>,
        /// Number of failures in the time range of the query.
        pub failures: u64,
        /// Time of the first failure (UTC).
        pub first_at: Option<Timestamp>,
        /// Time of the last failure (UTC).
        pub last_at: Option<Timestamp>,
        /// Time of the first failure after the last decision (UTC).
        pub back_at: Option<Timestamp>,
    }
}

/// Failures of a cause that have the same agent and are in the same part of a time range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Cause of the failures.
    pub cause_id: CauseId,
    /// Agent of the sessions that failed; `None` for sessions without one.
    pub agent_slug: Option<String>,
    /// Part of the time range, from 0.
    pub part: usize,
    /// Number of failures.
    pub failures: u64,
}

/// A failure that is grouped.
#[derive(Debug, Clone, Copy)]
pub struct ToGroup<'a> {
    /// The failure.
    pub id: EventId,
    /// Session that failed.
    pub session: &'a Session,
    /// Time of the failure (UTC).
    pub at: Timestamp,
}

/// Groups a failure with those of the same cause. If the cause is new and the failure had another one, the decision
/// about that one holds for the new one. Returns whether the cause opened with this failure, which none does that had
/// another cause before.
pub async fn group(tx: &mut WriteTx<'_>, failure: ToGroup<'_>, fingerprint: &Fingerprint) -> Result<Option<Opening>> {
    let (tenant, session) = (failure.session.tenant_id, failure.session.id);
    let id = fingerprint.id.0;
    let before = cause_of(tx.conn(), tenant, session).await?;
    let mut is_new = false;
    loop {
        is_new |= run!(
            tx.conn(),
            execute,
            INSERT,
            tenant.0,
            id,
            i64::from(RULE),
            fingerprint.code.as_str(),
            fingerprint.origin.tool.as_deref(),
            fingerprint.origin.step.as_deref(),
            fingerprint.message.as_str(),
        )? == 1;
        // Another server may have deleted the cause with its last failure since.
        let is_there = match tx.conn() {
            Conn::Sqlite(_) => true,
            Conn::Postgres(c) => {
                let row = sqlx::query(SHARE_POSTGRES).bind(tenant.0).bind(id).fetch_optional(&mut **c).await?;
                row.is_some()
            }
        };
        if is_there {
            break;
        }
    }
    let agent = failure.session.agent_slug.as_deref();
    let at = to_micros(failure.at);
    run!(tx.conn(), execute, ADD, tenant.0, failure.id.0, session.0, id, agent, at, i64::from(RULE))?;
    if let Some(before) = before {
        if before != fingerprint.id {
            if is_new {
                run!(tx.conn(), execute, INHERIT, tenant.0, id, before.0)?;
            }
            delete_unused(tx, tenant, before).await?;
        }
        return Ok(None);
    }
    if is_new {
        return Ok(Some(Opening::New));
    }
    let is_back = run!(tx.conn(), fetch_optional(i32,), IS_BACK, tenant.0, id, at, failure.id.0)?;
    Ok(is_back.map(|_| Opening::Back))
}

/// Removes a session's failure from its cause, and the cause with its text if no other failure has it.
pub async fn forget(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<()> {
    let Some(cause) = cause_of(tx.conn(), tenant_id, session_id).await? else { return Ok(()) };
    run!(tx.conn(), execute, REMOVE, tenant_id.0, session_id.0)?;
    delete_unused(tx, tenant_id, cause).await
}

async fn delete_unused(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: CauseId) -> Result<()> {
    // Once it is locked nothing is added to it, and the next statement sees what was added before.
    if let Conn::Postgres(c) = tx.conn() {
        let _ = sqlx::query(LOCK_POSTGRES).bind(tenant_id.0).bind(id.0).fetch_optional(&mut **c).await?;
    }
    run!(tx.conn(), execute, DELETE_UNUSED, tenant_id.0, id.0)?;
    Ok(())
}

/// Id of the cause of a session's failure.
pub async fn cause_of(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<Option<CauseId>> {
    type Id = (Uuid,);
    Ok(run!(conn, fetch_optional Id, CAUSE_OF_SESSION, tenant_id.0, session_id.0)?.map(|(id,)| CauseId(id)))
}

/// Number of failures of a cause, counted up to `limit`.
pub async fn count(conn: &mut Conn<'_>, tenant_id: TenantId, id: CauseId, limit: u32) -> Result<u64> {
    let (count,) = run!(conn, fetch_one(i64,), ALIKE, tenant_id.0, id.0, i64::from(limit))?;
    Ok(count.cast_unsigned())
}

/// Filter and page of a list of causes.
#[derive(Debug, Clone)]
pub struct CauseQuery {
    /// Time range in which failures are counted.
    pub span: Span,
    /// Only causes in this state.
    pub state: Option<CauseState>,
    /// Parts of the code, tool, step and message.
    pub texts: Contains,
    /// Agents of which one has a failure of the cause in the range.
    pub agents: Among,
    /// The current time, which ends a snooze (UTC).
    pub now: Timestamp,
    /// Only causes after this one, as time of the newest failure in the range (microseconds) and id.
    pub after: Option<(i64, CauseId)>,
    /// Most causes on the page.
    pub limit: u32,
}

/// One page of the causes with failures in a time range, those with the newest failure first.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId, query: CauseQuery) -> Result<Page<CauseRecord>> {
    let (at, id) = query.after.map(|(at, id)| (at, id.0)).unzip();
    let sql = if matches!(conn, Conn::Sqlite(_)) { LIST_SQLITE } else { LIST_POSTGRES };
    let (texts, no_texts) = (query.texts.all(), query.texts.none());
    let (agents, no_agents) = (query.agents.any(), query.agents.none());
    let rows = run!(
        conn,
        fetch_all CauseRecord,
        sql,
        tenant_id.0,
        to_micros(query.span.since),
        to_micros(query.span.until),
        i64::from(CAUSE_FAILURES_MAX),
        at,
        id,
        query.state.map(CauseState::as_str),
        to_micros(query.now),
        i64::from(query.limit) + 1,
        texts.as_deref(),
        no_texts.as_deref(),
        agents.as_deref(),
        no_agents.as_deref(),
    )?;
    Ok(Page::of(rows, query.limit))
}

/// Time of the newest failure of a cause in a time range, in microseconds.
pub async fn newest_in(conn: &mut Conn<'_>, tenant_id: TenantId, id: CauseId, span: Span) -> Result<Option<i64>> {
    type At = (Option<i64>,);
    let (since, until) = (to_micros(span.since), to_micros(span.until));
    Ok(run!(conn, fetch_one At, NEWEST_IN_SPAN, tenant_id.0, id.0, since, until)?.0)
}

/// A cause, with its failures in a time range counted.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: CauseId, span: Span) -> Result<Option<CauseRecord>> {
    let (since, until) = (to_micros(span.since), to_micros(span.until));
    Ok(run!(conn, fetch_optional CauseRecord, BY_ID, tenant_id.0, id.0, since, until)?)
}

/// The failures of these causes in a time range, by agent and part of the range. The caller limits the number of ids.
pub async fn parts(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[CauseId], span: Span) -> Result<Vec<Part>> {
    type PartRow = (Uuid, Option<String>, i64, i64);
    if ids.is_empty() || span.until <= span.since {
        return Ok(Vec::new());
    }
    let (since, until) = (to_micros(span.since), to_micros(span.until));
    let count = i64::try_from(CAUSE_TREND_PARTS).unwrap_or(1);
    let rows: Vec<PartRow> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            let hex = serde_json::Value::from(hex).to_string();
            c.fetch_all::<PartRow>(PARTS_SQLITE, &[&tenant_id.0, &hex, &since, &until, &count])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            let query = sqlx::query_as(PARTS_POSTGRES).bind(tenant_id.0).bind(ids).bind(since).bind(until);
            query.bind(count).fetch_all(&mut **c).await?
        }
    };
    let part = |(cause_id, agent_slug, part, failures): PartRow| Part {
        cause_id: CauseId(cause_id),
        agent_slug,
        part: usize::try_from(part).unwrap_or_default(),
        failures: failures.cast_unsigned(),
    };
    Ok(rows.into_iter().map(part).collect())
}

/// One page of the failures of a cause, newest first. With `before`, the time and the id of a failure, only older ones.
pub async fn sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CauseId,
    before: Option<(i64, EventId)>,
    limit: u32,
) -> Result<Page<FailureRecord>> {
    let (at, failure) = before.map(|(at, failure)| (at, failure.0)).unzip();
    let more = i64::from(limit) + 1;
    let rows = run!(conn, fetch_all Row, SESSIONS, tenant_id.0, id.0, at, failure, more)?;
    Ok(Page::of(rows.into_iter().map(FailureRecord::from).collect(), limit))
}

/// Those of these sessions whose failures have this cause. The caller limits the number of ids.
pub async fn members(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CauseId,
    sessions: &[SessionId],
) -> Result<HashSet<SessionId>> {
    type Id = (Uuid,);
    let rows: Vec<Id> = match conn {
        Conn::Sqlite(c) => c.fetch_all::<Id>(MEMBERS_SQLITE, &[&tenant_id.0, &id.0, &hex(sessions)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = sessions.iter().map(|id| id.0).collect();
            sqlx::query_as(MEMBERS_POSTGRES).bind(tenant_id.0).bind(id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(|(id,)| SessionId(id)).collect())
}

fn hex(sessions: &[SessionId]) -> String {
    let hex: Vec<String> = sessions.iter().map(|id| id.0.simple().to_string()).collect();
    serde_json::Value::from(hex).to_string()
}

/// The newest session that runs each of these again. Those that were not run again are left out. The caller limits the
/// number of ids.
pub async fn retries(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    sessions: &[SessionId],
) -> Result<HashMap<SessionId, SessionId>> {
    type Retry = (Uuid, Option<Uuid>);
    let rows: Vec<Retry> = match conn {
        Conn::Sqlite(c) => c.fetch_all::<Retry>(RETRIES_SQLITE, &[&tenant_id.0, &hex(sessions)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = sessions.iter().map(|id| id.0).collect();
            sqlx::query_as(RETRIES_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().filter_map(|(old, new)| Some((SessionId(old), SessionId(new?)))).collect())
}

/// Sessions of a cause that failed in a time range and were not run again, oldest first.
pub async fn to_run_again(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CauseId,
    span: Span,
    limit: u32,
) -> Result<Vec<SessionId>> {
    type Id = (Uuid,);
    let (since, until) = (to_micros(span.since), to_micros(span.until));
    let rows = run!(conn, fetch_all Id, TO_RUN_AGAIN, tenant_id.0, id.0, since, until, i64::from(limit))?;
    Ok(rows.into_iter().map(|(id,)| SessionId(id)).collect())
}

/// What people decide about a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The new state.
    pub state: CauseState,
    /// End of a snooze (UTC); `None` for the other states.
    pub until: Option<Timestamp>,
    /// Who decides.
    pub by: &'a str,
    /// Time of the decision (UTC).
    pub at: Timestamp,
}

/// Records a decision. Returns `false` if there is no such cause.
pub async fn decide(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: CauseId, decision: Decision<'_>) -> Result<bool> {
    let Decision { state, until, by, at } = decision;
    let until = until.map(to_micros);
    Ok(run!(tx.conn(), execute, DECIDE, tenant_id.0, id.0, state.as_str(), until, by, to_micros(at))? == 1)
}
