//! What is not in the index yet.
//!
//! The sequence of a session is the order in which its events are committed and seen, so the newest one that is in the
//! index says for all of them. There is no such order over sessions on PostgreSQL. What changed is told by notices,
//! which can be lost, and found by going through all sessions.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
};
use uuid::Uuid;

macro_rules! behind_select {
    ($sessions:literal, $rest:literal) => {
        concat!(
            "SELECT s.tenant_id, s.id AS session_id, s.head_sequence, COALESCE(w.sequence, 0) AS sequence, \
             CAST(CASE WHEN s.private_to IS NULL AND COALESCE(w.is_closed, 0) = 0 AND s.head_sequence > COALESCE(w.sequence, 0) \
             THEN 1 ELSE 0 END AS bigint) AS is_behind FROM ",
            $sessions,
            " LEFT JOIN search_sessions w ON w.tenant_id = s.tenant_id AND w.session_id = s.id ",
            $rest
        )
    };
}

macro_rules! unindexed_select {
    ($position:literal) => {
        concat!(
            "SELECT ",
            $position,
            " AS position, sequence, event_type, content, metadata, recorded_at FROM session_events \
             WHERE tenant_id = $1 AND session_id = $2 AND sequence > $3 AND sequence <= $4 ORDER BY sequence LIMIT $5"
        )
    };
}

statements! {
    const STATE: &str = "SELECT rule, indexed_until FROM search_state WHERE id = 1";
    const SAVE_UNTIL: &str = "UPDATE search_state SET indexed_until = $1 WHERE id = 1";
    // Bounded by the sessions that are looked at, not by those that are behind: usually none is.
    const BEHIND_AFTER: &str = behind_select!(
        "(SELECT tenant_id, id, head_sequence, private_to FROM sessions WHERE (tenant_id, id) > ($1, $2) \
         ORDER BY tenant_id, id LIMIT $3) s",
        "ORDER BY s.tenant_id, s.id"
    );
    const BEHIND_OF_SQLITE: &str = behind_select!(
        "(SELECT unhex(json_extract(value, '$[0]')) AS tenant_id, unhex(json_extract(value, '$[1]')) AS session_id \
         FROM json_each($1)) j CROSS JOIN sessions s ON s.tenant_id = j.tenant_id AND s.id = j.session_id",
        ""
    );
    const BEHIND_OF_POSTGRES: &str = behind_select!(
        "UNNEST($1::uuid[], $2::uuid[]) AS j (tenant_id, session_id) \
         JOIN sessions s ON s.tenant_id = j.tenant_id AND s.id = j.session_id",
        ""
    );
    pub(super) const UNINDEXED_SQLITE: &str = unindexed_select!("rowid");
    const UNINDEXED_POSTGRES: &str = unindexed_select!("recorded_at");
}

record! {
    /// How far the index is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct State of "search_state" {
        /// Rule by which the index was made; 0 before it was begun.
        pub rule: u32,
        /// All events that were committed before this time are in the index (UTC); `None` until the first pass is done.
        pub indexed_until: Option<Timestamp>,
    }
}

record! {
    /// A session, and how far it is in the index.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Behind of "search_sessions" {
        /// Its workspace.
        pub tenant_id: TenantId,
        /// Session whose events are added.
        pub session_id: SessionId,
        /// Its newest sequence.
        pub head_sequence: u64,
        /// The newest one that is in the index.
        pub sequence: u64,
        is_behind: i64,
    }
}

impl Behind {
    /// Whether events are to be added: the session is not private, is not being erased, and has newer events.
    pub fn is_behind(&self) -> bool {
        self.is_behind != 0
    }
}

record! {
    /// An event that is to be added to the index, or taken out.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct UnindexedEvent of "session_events" {
        /// Its place in the order of results: of this engine alone.
        pub position: i64,
        /// Its sequence in the session.
        pub sequence: u64,
        /// Its kind.
        pub event_type: String,
        /// Its content, as it is stored.
        pub content: String,
        /// Its metadata, as they are stored.
        pub metadata: String,
        /// Time it was recorded (UTC).
        pub recorded_at: Timestamp,
    }
}

/// How far the index is.
pub async fn state(conn: &mut Conn<'_>) -> Result<State> {
    Ok(run!(conn, fetch_one State, STATE)?)
}

/// Saves until when all events are in the index.
pub async fn save_until(tx: &mut WriteTx<'_>, until: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, SAVE_UNTIL, to_micros(until))?;
    Ok(())
}

/// The next `limit` sessions of all workspaces after this one, in key order, whether or not they are behind.
pub async fn behind_after(
    conn: &mut Conn<'_>,
    after: Option<(TenantId, SessionId)>,
    limit: u32,
) -> Result<Vec<Behind>> {
    let (tenant, session) = after.map(|(tenant, session)| (tenant.0, session.0)).unwrap_or_default();
    Ok(run!(conn, fetch_all Behind, BEHIND_AFTER, tenant, session, i64::from(limit))?)
}

/// These sessions, in no order.
pub async fn behind_of(conn: &mut Conn<'_>, sessions: &[(TenantId, SessionId)]) -> Result<Vec<Behind>> {
    let rows = match conn {
        Conn::Sqlite(c) => {
            let hex = |id: Uuid| id.simple().to_string();
            let keys: Vec<[String; 2]> = sessions.iter().map(|(tenant, id)| [hex(tenant.0), hex(id.0)]).collect();
            c.fetch_all::<Behind>(BEHIND_OF_SQLITE, &[&serde_json::Value::from_iter(keys).to_string()])?
        }
        Conn::Postgres(c) => {
            let (tenants, ids): (Vec<Uuid>, Vec<Uuid>) = sessions.iter().map(|(tenant, id)| (tenant.0, id.0)).unzip();
            sqlx::query_as(BEHIND_OF_POSTGRES).bind(tenants).bind(ids).fetch_all(&mut **c).await?
        }
    };
    Ok(rows)
}

/// Events of a session after `after` and up to `upto`, oldest first.
pub async fn unindexed(
    conn: &mut Conn<'_>,
    (tenant_id, session_id): (TenantId, SessionId),
    (after, upto): (u64, u64),
    limit: u32,
) -> Result<Vec<UnindexedEvent>> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { UNINDEXED_SQLITE } else { UNINDEXED_POSTGRES };
    let (after, upto, limit) = (after.cast_signed(), upto.cast_signed(), i64::from(limit));
    Ok(run!(conn, fetch_all UnindexedEvent, sql, tenant_id.0, session_id.0, after, upto, limit)?)
}
