//! The row of `failure_regroup`: how far the failures that no rule or an earlier one grouped are grouped.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::from_micros,
    failure::cause::RULE,
    id::{EventId, SessionId, TenantId},
};
use uuid::Uuid;

statements! {
    const STATE: &str = "SELECT rule, failures, looked_at, is_done FROM failure_regroup WHERE id = 1";
    const POSITION: &str = "SELECT tenant_id, failure_id FROM failure_regroup WHERE id = 1";
    const LOCK_POSTGRES: &str = "SELECT rule FROM failure_regroup WHERE id = 1 FOR UPDATE";
    const BEGIN: &str = "UPDATE failure_regroup SET rule = $1, tenant_id = NULL, failure_id = NULL, looked_at = 0, is_done = 0, \
         failures = (SELECT COUNT(*) FROM session_failures) WHERE id = 1 AND rule < $1";
    // Nothing is left to group of a failure whose text is erased, and a private session has no cause.
    const NEXT: &str = "SELECT f.tenant_id, f.id, f.session_id, f.at, CASE WHEN s.private_to IS NULL \
         AND NOT EXISTS (SELECT 1 FROM caused_failures m WHERE m.tenant_id = f.tenant_id AND m.failure_id = f.id AND m.rule >= $3) \
         AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = f.tenant_id AND e.session_id = f.session_id) \
         THEN CAST(1 AS bigint) ELSE CAST(0 AS bigint) END FROM session_failures f \
         JOIN sessions s ON s.tenant_id = f.tenant_id AND s.id = f.session_id \
         WHERE (f.tenant_id, f.id) > ($1, $2) ORDER BY f.tenant_id, f.id LIMIT $4";
    const SAVE: &str = "UPDATE failure_regroup SET tenant_id = $1, failure_id = $2, looked_at = looked_at + $3, is_done = $4 \
         WHERE id = 1";
}

/// How far the grouping has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Failures that were there when it began.
    pub failures: u64,
    /// Those that it has looked at.
    pub looked_at: u64,
    /// Whether every failure is grouped by the current rule.
    pub is_done: bool,
}

/// Returns how far the grouping has come.
pub async fn progress(conn: &mut Conn<'_>) -> Result<Progress> {
    let (rule, failures, looked_at, is_done) = run!(conn, fetch_one(i64, i64, i64, i64), STATE)?;
    Ok(Progress {
        failures: failures.cast_unsigned(),
        looked_at: looked_at.cast_unsigned(),
        is_done: rule >= i64::from(RULE) && is_done == 1,
    })
}

/// A failure that the grouping looks at.
#[derive(Debug, Clone, Copy)]
pub struct Ungrouped {
    /// Workspace of the failure.
    pub tenant_id: TenantId,
    /// The failure.
    pub id: EventId,
    /// Session that failed.
    pub session_id: SessionId,
    /// Time of the failure (UTC).
    pub at: Timestamp,
    /// Whether the failure must be grouped.
    pub is_due: bool,
}

/// Returns the next failures to look at, and begins anew after a change of the rule. Servers take turns.
pub async fn next(tx: &mut WriteTx<'_>, limit: u32) -> Result<Vec<Ungrouped>> {
    type Position = (Option<Uuid>, Option<Uuid>);
    type UngroupedRow = (Uuid, Uuid, Uuid, i64, i64);
    if let Conn::Postgres(c) = tx.conn() {
        let _ = sqlx::query(LOCK_POSTGRES).fetch_optional(&mut **c).await?;
    }
    run!(tx.conn(), execute, BEGIN, i64::from(RULE))?;
    let (tenant, failure) = run!(tx.conn(), fetch_one Position, POSITION)?;
    let (tenant, failure) = (tenant.unwrap_or_default(), failure.unwrap_or_default());
    let rows = run!(tx.conn(), fetch_all UngroupedRow, NEXT, tenant, failure, i64::from(RULE), i64::from(limit))?;
    let of = |(tenant, id, session, at, due): UngroupedRow| Ungrouped {
        tenant_id: TenantId(tenant),
        id: EventId(id),
        session_id: SessionId(session),
        at: from_micros(at),
        is_due: due == 1,
    };
    Ok(rows.into_iter().map(of).collect())
}

/// Records that the grouping has looked at these failures. None are left after fewer than `limit`.
pub async fn save(tx: &mut WriteTx<'_>, looked_at: &[Ungrouped], limit: u32) -> Result<()> {
    let (tenant, failure) = looked_at.last().map(|last| (last.tenant_id.0, last.id.0)).unzip();
    let count = i64::try_from(looked_at.len()).unwrap_or_default();
    let is_done = i64::from(count < i64::from(limit));
    run!(tx.conn(), execute, SAVE, tenant, failure, count, is_done)?;
    Ok(())
}
