//! Reads gates.

use super::{Place, Row, gate_select, hex_uuids, record, records};
use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    gate::Gate,
    id::{ActionId, GateId, SessionId, TenantId},
};
use uuid::Uuid;

macro_rules! of_sessions {
    ($ids:literal) => {
        gate_select!(concat!("g.tenant_id = $1 AND g.state IN ('open', 'held') AND g.session_id ", $ids))
    };
}

macro_rules! by_ids {
    ($ids:literal) => {
        gate_select!(concat!("g.tenant_id = $1 AND g.id ", $ids))
    };
}

statements! {
    const SESSION_OF: &str = "SELECT session_id FROM gates WHERE tenant_id = $1 AND id = $2";
    const BY_ID: &str = gate_select!("g.tenant_id = $1 AND g.id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = gate_select!("g.tenant_id = $1 AND g.id = $2 FOR UPDATE OF g");
    const WAITING: &str = gate_select!("g.tenant_id = $1 AND g.session_id = $2 AND g.state IN ('open', 'held')");
    const WAITING_LOCKED_POSTGRES: &str =
        gate_select!("g.tenant_id = $1 AND g.session_id = $2 AND g.state IN ('open', 'held') FOR UPDATE OF g");
    // Each attempt of a session comes to at most one gate.
    const NEWEST_OF_SESSION: &str =
        gate_select!("g.tenant_id = $1 AND g.session_id = $2 ORDER BY g.attempt DESC LIMIT 1");
    const WAITING_OF_ACTION: &str = gate_select!(
        "g.tenant_id = $1 AND g.state = 'open' AND g.session_id IN (SELECT s.id FROM sessions s WHERE s.tenant_id = $1 \
         AND s.action_id = $2 AND s.status IN ('waiting_human', 'awaiting_tool')) ORDER BY g.id LIMIT $3"
    );
    const LAST_OF_ACTION: &str = gate_select!(
        "g.tenant_id = $1 AND g.state <> 'open' AND g.session_id = (SELECT s.id FROM sessions s WHERE s.tenant_id = $1 \
         AND s.action_id = $2 ORDER BY s.id DESC LIMIT 1) ORDER BY g.attempt DESC LIMIT 1"
    );
    const OF_SESSIONS_SQLITE: &str = of_sessions!("IN (SELECT unhex(value) FROM json_each($2))");
    const OF_SESSIONS_POSTGRES: &str = of_sessions!("= ANY($2)");
    const BY_IDS_SQLITE: &str = by_ids!("IN (SELECT unhex(value) FROM json_each($2))");
    const BY_IDS_POSTGRES: &str = by_ids!("= ANY($2)");
    const DENIED: &str = gate_select!(
        "g.tenant_id = $1 AND g.session_id = $2 AND g.state = 'settled' AND g.outcome = 'deny' AND g.kind IN ('output', 'fields') \
         ORDER BY g.attempt"
    );
    const SETTLED_OF_SESSION: &str = gate_select!(
        "g.tenant_id = $1 AND g.session_id = $2 AND g.state = 'settled' AND g.kind <> 'question' AND g.settled_at <= $3 \
         ORDER BY g.attempt DESC LIMIT $4"
    );
    const TO_WAKE: &str = "SELECT tenant_id, id, session_id FROM gates WHERE wake_at <= $1 ORDER BY wake_at LIMIT $2";
}

/// The session of a gate.
pub async fn session_of(conn: &mut Conn<'_>, tenant_id: TenantId, id: GateId) -> Result<Option<SessionId>> {
    let row = run!(conn, fetch_optional(Uuid,), SESSION_OF, tenant_id.0, id.0)?;
    Ok(row.map(|(session_id,)| SessionId(session_id)))
}

/// A gate of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: GateId) -> Result<Option<Gate>> {
    record(run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. Lock its session first. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: GateId) -> Result<Option<Gate>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    record(run!(tx.conn(), fetch_optional Row, sql, tenant_id.0, id.0)?)
}

/// The gate at which a session waits, locked like [`find_locked`].
pub async fn waiting_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<Option<Gate>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { WAITING } else { WAITING_LOCKED_POSTGRES };
    record(run!(tx.conn(), fetch_optional Row, sql, tenant_id.0, session_id.0)?)
}

/// The gate at which a session waits.
pub async fn waiting(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<Option<Gate>> {
    record(run!(conn, fetch_optional Row, WAITING, tenant_id.0, session_id.0)?)
}

/// The gates at which these sessions wait, decided ones included whose effect is held back.
pub async fn waiting_of_sessions(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[SessionId]) -> Result<Vec<Gate>> {
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => {
            let hex = hex_uuids(ids.iter().map(|id| id.0));
            c.fetch_all::<Row>(OF_SESSIONS_SQLITE, &[&tenant_id.0, &hex])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(OF_SESSIONS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    records(rows)
}

/// The gates of this workspace with these ids, in no particular order.
pub async fn list_by_ids(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[GateId]) -> Result<Vec<Gate>> {
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => {
            let hex = hex_uuids(ids.iter().map(|id| id.0));
            c.fetch_all::<Row>(BY_IDS_SQLITE, &[&tenant_id.0, &hex])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(BY_IDS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    records(rows)
}

/// The newest gate of a session.
pub async fn newest_of_session(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
) -> Result<Option<Gate>> {
    record(run!(conn, fetch_optional Row, NEWEST_OF_SESSION, tenant_id.0, session_id.0)?)
}

/// Open gates of an action's sessions, oldest first.
pub async fn waiting_of_action(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action_id: ActionId,
    max: u32,
) -> Result<Vec<Gate>> {
    records(run!(conn, fetch_all Row, WAITING_OF_ACTION, tenant_id.0, action_id.0, i64::from(max))?)
}

/// The last gate of the action's newest session that is no longer open.
pub async fn last_of_action(conn: &mut Conn<'_>, tenant_id: TenantId, action_id: ActionId) -> Result<Option<Gate>> {
    record(run!(conn, fetch_optional Row, LAST_OF_ACTION, tenant_id.0, action_id.0)?)
}

/// Gates of a session whose output was denied, oldest first.
pub async fn denied(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<Vec<Gate>> {
    records(run!(conn, fetch_all Row, DENIED, tenant_id.0, session_id.0)?)
}

/// The newest gates of a session that were settled by `until`, without questions.
pub async fn settled_of_session(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    until: Timestamp,
    max: u32,
) -> Result<Vec<Gate>> {
    records(run!(conn, fetch_all Row, SETTLED_OF_SESSION, tenant_id.0, session_id.0, to_micros(until), i64::from(max))?)
}

/// Gates of every workspace that a sweep has to handle now: an effect is due, or a deadline has passed.
pub async fn to_wake(conn: &mut Conn<'_>, now: Timestamp, max: u32) -> Result<Vec<Place>> {
    let rows = run!(conn, fetch_all(Uuid, Uuid, Uuid), TO_WAKE, to_micros(now), i64::from(max))?;
    Ok(rows.into_iter().map(Place::of_row).collect())
}
