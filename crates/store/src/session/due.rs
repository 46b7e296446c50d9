//! Expiry of worker leases and of the time limits of sessions.

use crate::{
    engine::{Conn, Error, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{SessionId, TenantId},
    session::TimeLimits,
};
use std::collections::HashMap;
use uuid::Uuid;

statements! {
    const EXTEND_LEASE: &str = "UPDATE sessions SET lease_expires_at = $3 \
         WHERE tenant_id = $1 AND id = $2 AND status = 'running' AND attempt = $4";
    const REARM_LEASES: &str = "UPDATE sessions SET lease_expires_at = $1 + lease_seconds * 1000000 \
         WHERE lease_expires_at IS NOT NULL AND lease_seconds IS NOT NULL";
    const LEASES_LOST: &str = "SELECT tenant_id, id, lease_expires_at FROM sessions \
         WHERE lease_expires_at < $1 AND (lease_expires_at, id) > ($2, $3) ORDER BY lease_expires_at, id LIMIT $4";
    const OVERDUE: &str = "SELECT tenant_id, id, deadline_at FROM sessions \
         WHERE deadline_at <= $1 AND (deadline_at, id) > ($2, $3) ORDER BY deadline_at, id LIMIT $4";

    const DEADLINES_SQLITE: &str = "SELECT id, deadline_at FROM sessions WHERE tenant_id = $1 \
         AND id IN (SELECT unhex(value) FROM json_each($2)) AND deadline_at IS NOT NULL";
    const DEADLINES_POSTGRES: &str =
        "SELECT id, deadline_at FROM sessions WHERE tenant_id = $1 AND id = ANY($2) AND deadline_at IS NOT NULL";
}

/// A session whose lease or time limit is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueSession {
    /// The workspace of the session.
    pub tenant_id: TenantId,
    /// Id of the session.
    pub id: SessionId,
    /// Time at which the lease or the limit was over.
    pub due_at: Timestamp,
}

impl DueSession {
    fn of((tenant_id, id, due_at): (Uuid, Uuid, i64)) -> Self {
        Self { tenant_id: TenantId(tenant_id), id: SessionId(id), due_at: from_micros(due_at) }
    }
}

/// Returns what to bind so that a list begins after this session; `None` for its beginning.
fn position(after: Option<DueSession>) -> (i64, Uuid) {
    after.map_or((i64::MIN, Uuid::nil()), |after| (to_micros(after.due_at), after.id.0))
}

/// Reads the time limits of a row. Most sessions have none.
pub(super) fn limits(text: Option<&str>) -> Result<TimeLimits> {
    let Some(text) = text else { return Ok(TimeLimits::default()) };
    serde_json::from_str(text).map_err(|_| Error::inconsistent("sessions", "time_limits", text))
}

/// The time limits as stored in a row; `None` if there are none.
pub(super) fn limits_text(limits: &TimeLimits) -> Result<Option<String>> {
    if *limits == TimeLimits::default() {
        return Ok(None);
    }
    serde_json::to_string(limits).map(Some).map_err(|error| Error::Database(error.to_string()))
}

/// Extends a lease without touching the log. `false` when the session is not running under this attempt.
pub async fn extend_lease(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: SessionId,
    attempt: u32,
    expires_at: Timestamp,
) -> Result<bool> {
    let changed = run!(tx.conn(), execute, EXTEND_LEASE, tenant_id.0, id.0, to_micros(expires_at), i64::from(attempt))?;
    Ok(changed == 1)
}

/// Extends every lease to its full length from `now`. Used after a restart, because the clock may have
/// jumped and heartbeats were impossible.
pub async fn rearm_leases(tx: &mut WriteTx<'_>, now: Timestamp) -> Result<u64> {
    Ok(run!(tx.conn(), execute, REARM_LEASES, to_micros(now))?)
}

/// Ids as SQLite's statements read them: a JSON array of hexadecimal texts.
pub(crate) fn hex_list(ids: &[SessionId]) -> String {
    let hex: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
    serde_json::Value::from(hex).to_string()
}

/// When the time limits of these sessions are over, in the status that they have. Sessions without one are left out.
pub async fn deadlines(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[SessionId],
) -> Result<HashMap<SessionId, Timestamp>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(Uuid, i64)> = match conn {
        Conn::Sqlite(c) => c.fetch_all(DEADLINES_SQLITE, &[&tenant_id.0, &hex_list(ids)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(DEADLINES_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(|(id, at)| (SessionId(id), from_micros(at))).collect())
}

/// Sessions of every workspace whose lease expired before `now`, the longest expired first. With `after`, those that
/// follow it in this order.
pub async fn leases_lost(
    conn: &mut Conn<'_>,
    now: Timestamp,
    after: Option<DueSession>,
    max: u32,
) -> Result<Vec<DueSession>> {
    #[cfg(feature = "planted-bugs")]
    if crate::engine::planted::is(crate::engine::planted::Bug::LeaseNeverExpires) {
        return Ok(Vec::new());
    }
    let (at, id) = position(after);
    let rows = run!(conn, fetch_all(Uuid, Uuid, i64), LEASES_LOST, to_micros(now), at, id, i64::from(max))?;
    Ok(rows.into_iter().map(DueSession::of).collect())
}

/// Sessions of every workspace whose deadline has passed by `now`, the longest overdue first. With `after`, those that
/// follow it in this order.
pub async fn overdue(
    conn: &mut Conn<'_>,
    now: Timestamp,
    after: Option<DueSession>,
    max: u32,
) -> Result<Vec<DueSession>> {
    let (at, id) = position(after);
    let rows = run!(conn, fetch_all(Uuid, Uuid, i64), OVERDUE, to_micros(now), at, id, i64::from(max))?;
    Ok(rows.into_iter().map(DueSession::of).collect())
}
