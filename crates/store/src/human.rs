//! Working sessions: rows of `sessions` whose source is the human session bridge.

use crate::{
    engine::{Conn, Result, run, statements},
    session::{Row, session_select},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, UserId},
    session::Session,
};
use uuid::Uuid;

statements! {
    // The source is written out, as in the partial indexes that these walk; it equals `domain::human::SOURCE`.
    const ACTIVE: &str =
        session_select!("tenant_id = $1 AND user_id = $2 AND source = 'human-session-bridge' AND status = 'running'");
    const ACTIVE_LOCKED_POSTGRES: &str = session_select!(
        "tenant_id = $1 AND user_id = $2 AND source = 'human-session-bridge' AND status = 'running' FOR UPDATE"
    );
    const RECENT: &str = session_select!(
        "tenant_id = $1 AND user_id = $2 AND source = 'human-session-bridge' AND started_at >= $3 \
         AND (completed_at > $4 OR completed_at IS NULL) ORDER BY started_at DESC LIMIT $5"
    );
    const RUNNING_BEFORE: &str = "SELECT tenant_id, id FROM sessions \
         WHERE source = 'human-session-bridge' AND status = 'running' AND started_at <= $1 ORDER BY started_at LIMIT $2";
}

/// The running working session of a person.
pub async fn active(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<Option<Session>> {
    run!(conn, fetch_optional Row, ACTIVE, tenant_id.0, user_id.0)?.map(Session::try_from).transpose()
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn active_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId) -> Result<Option<Session>> {
    let row = match tx.conn() {
        Conn::Sqlite(c) => c.fetch_optional::<Row>(ACTIVE, &[&tenant_id.0, &user_id.0])?,
        Conn::Postgres(c) => {
            sqlx::query_as::<_, Row>(ACTIVE_LOCKED_POSTGRES)
                .bind(tenant_id.0)
                .bind(user_id.0)
                .fetch_optional(&mut **c)
                .await?
        }
    };
    row.map(Session::try_from).transpose()
}

/// A person's working sessions that began at `begun_since` or later and went on after `open_after`, newest first.
pub async fn since(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    (begun_since, open_after): (Timestamp, Timestamp),
    max: u32,
) -> Result<Vec<Session>> {
    let (begun, open) = (to_micros(begun_since), to_micros(open_after));
    let rows = run!(conn, fetch_all Row, RECENT, tenant_id.0, user_id.0, begun, open, i64::from(max))?;
    rows.into_iter().map(Session::try_from).collect()
}

/// Running working sessions of every workspace that began at `begun_until` or before, longest open first.
pub async fn left_open(conn: &mut Conn<'_>, begun_until: Timestamp, max: u32) -> Result<Vec<(TenantId, SessionId)>> {
    let rows = run!(conn, fetch_all(Uuid, Uuid), RUNNING_BEFORE, to_micros(begun_until), i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), SessionId(id))).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_source_in_the_statements_is_the_domains() {
        let quoted = format!("source = '{}'", domain::human::SOURCE);
        for text in [super::ACTIVE, super::ACTIVE_LOCKED_POSTGRES, super::RECENT, super::RUNNING_BEFORE] {
            assert!(text.contains(&quoted), "{text}");
        }
    }
}
