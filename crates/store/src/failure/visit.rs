//! Rows of `failure_visits`: when each person last looked at the causes of failures.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{TenantId, UserId},
};

statements! {
    const BY_USER: &str = "SELECT seen_at, previous_at FROM failure_visits WHERE tenant_id = $1 AND user_id = $2";
    // A clock that was set back changes nothing.
    const SEE: &str = "INSERT INTO failure_visits (tenant_id, user_id, seen_at) VALUES ($1, $2, $3) \
         ON CONFLICT (tenant_id, user_id) DO UPDATE SET seen_at = excluded.seen_at, \
         previous_at = CASE WHEN failure_visits.seen_at < $4 THEN failure_visits.seen_at ELSE failure_visits.previous_at END \
         WHERE failure_visits.seen_at < excluded.seen_at";
}

/// The visits of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Time at which the person last looked (UTC).
    pub seen_at: Timestamp,
    /// Time at which the visit before that one ended (UTC).
    pub previous_at: Option<Timestamp>,
}

/// The visits of a person, if there were any.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<Option<Visit>> {
    type VisitRow = (i64, Option<i64>);
    let row = run!(conn, fetch_optional VisitRow, BY_USER, tenant_id.0, user_id.0)?;
    let visit =
        |(seen, previous): VisitRow| Visit { seen_at: from_micros(seen), previous_at: previous.map(from_micros) };
    Ok(row.map(visit))
}

/// Records that a person looks. It is a new visit if the person last looked before `new_since`.
pub async fn see(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    at: Timestamp,
    new_since: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, SEE, tenant_id.0, user_id.0, to_micros(at), to_micros(new_since))?;
    Ok(())
}
