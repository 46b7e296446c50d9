//! Rows of `session_roll`: all sessions of a workspace in one chain. A sweep fills it.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    chain::{Digest, RollEntry, entry_digest, roll_root},
    clock::from_micros,
    id::{SessionId, TenantId},
};
use uuid::Uuid;

macro_rules! entry_columns {
    () => {
        "s.session_type, s.created_by, s.created_at, s.action_id, s.parent_id, s.agent_slug, s.source, e.digest AS first_event"
    };
}

statements! {
    // The inner query bounds the rows that are read, whether or not their sessions can be entered: writers wait for
    // them.
    const QUEUED: &str = concat!(
        "SELECT u.tenant_id, u.session_id, ",
        entry_columns!(),
        " FROM (SELECT tenant_id, session_id FROM session_unrolled WHERE (tenant_id, session_id) > ($1, $2) \
         ORDER BY tenant_id, session_id LIMIT $3) AS u \
         LEFT JOIN sessions s ON s.tenant_id = u.tenant_id AND s.id = u.session_id \
         LEFT JOIN session_events e ON e.tenant_id = u.tenant_id AND e.session_id = u.session_id AND e.sequence = 1 \
         ORDER BY u.tenant_id, u.session_id"
    );
    const PLACES: &str = concat!(
        "SELECT r.tenant_id, r.session_id, r.ordinal, r.entry_digest, r.root, ",
        entry_columns!(),
        " FROM session_roll r LEFT JOIN sessions s ON s.tenant_id = r.tenant_id AND s.id = r.session_id \
         LEFT JOIN session_events e ON e.tenant_id = r.tenant_id AND e.session_id = r.session_id AND e.sequence = 1 \
         WHERE r.tenant_id = $1 AND r.ordinal > $2 AND r.ordinal <= $3 ORDER BY r.ordinal LIMIT $4"
    );
    const IS_DUE: &str = "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM session_unrolled LIMIT 1) AS waiting), \
         (SELECT COUNT(*) FROM session_roll_fill WHERE is_done = 0)";
    // Two servers must not enter the same sessions. The second one tries again later.
    const TRY_LOCK_POSTGRES: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended('shiftbook.roll', 4019))";
    const HEAD: &str = "SELECT sessions, root FROM session_roll_heads WHERE tenant_id = $1";
    const INSERT: &str =
        "INSERT INTO session_roll (tenant_id, ordinal, session_id, entry_digest, root) VALUES ($1, $2, $3, $4, $5)";
    const INSERT_POSTGRES: &str = "INSERT INTO session_roll (tenant_id, ordinal, session_id, entry_digest, root) \
         SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bytea[], $5::bytea[])";
    const SAVE_HEAD: &str = "INSERT INTO session_roll_heads (tenant_id, sessions, root) VALUES ($1, $2, $3) \
         ON CONFLICT (tenant_id) DO UPDATE SET sessions = excluded.sessions, root = excluded.root";
    const DEQUEUE: &str = "DELETE FROM session_unrolled WHERE tenant_id = $1 AND session_id = $2";
    const DEQUEUE_POSTGRES: &str = "DELETE FROM session_unrolled u USING unnest($1::uuid[], $2::uuid[]) AS d (tenant_id, session_id) \
         WHERE u.tenant_id = d.tenant_id AND u.session_id = d.session_id";
    const FILL_POSITION: &str = "SELECT tenant_id, session_id FROM session_roll_fill WHERE is_done = 0";
    const SESSIONS_AFTER: &str = "SELECT s.tenant_id, s.id, r.ordinal FROM sessions s \
         LEFT JOIN session_roll r ON r.tenant_id = s.tenant_id AND r.session_id = s.id \
         WHERE (s.tenant_id, s.id) > ($1, $2) ORDER BY s.tenant_id, s.id LIMIT $3";
    const ENQUEUE: &str = "INSERT INTO session_unrolled (tenant_id, session_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    const SAVE_FILL_POSITION: &str =
        "UPDATE session_roll_fill SET tenant_id = $1, session_id = $2, is_done = $3 WHERE id = 1";
    const PROBE_WRITE: &str = "UPDATE session_roll_fill SET is_done = is_done WHERE id = 1";
    const STATES: &str = "SELECT t.id AS tenant_id, h.sessions, h.root, \
         (SELECT MAX(r.ordinal) FROM session_roll r WHERE r.tenant_id = t.id) AS ordinal \
         FROM tenants t LEFT JOIN session_roll_heads h ON h.tenant_id = t.id ORDER BY t.id";
    const MISSING: &str = "SELECT u.tenant_id, u.session_id FROM session_unrolled u WHERE NOT EXISTS \
         (SELECT 1 FROM sessions s WHERE s.tenant_id = u.tenant_id AND s.id = u.session_id) ORDER BY u.session_id LIMIT $1";
}

record! {
    struct WaitingRow of "session_unrolled" {
        tenant_id: Uuid,
        session_id: Uuid,
        session_type: Option<String>,
        created_by: Option<String>,
        created_at: Option<i64>,
        action_id: Option<Uuid>,
        parent_id: Option<Uuid>,
        agent_slug: Option<String>,
        source: Option<String>,
        first_event: Option<Vec<u8>>,
    }
}

record! {
    struct PlaceRow of "session_roll" {
        tenant_id: Uuid,
        session_id: Uuid,
        ordinal: i64,
        entry_digest: Vec<u8>,
        root: Vec<u8>,
        session_type: Option<String>,
        created_by: Option<String>,
        created_at: Option<i64>,
        action_id: Option<Uuid>,
        parent_id: Option<Uuid>,
        agent_slug: Option<String>,
        source: Option<String>,
        first_event: Option<Vec<u8>>,
    }
}

record! {
    struct HeadRow of "session_roll_heads" {
        tenant_id: Uuid,
        sessions: Option<i64>,
        root: Option<Vec<u8>>,
        ordinal: Option<i64>,
    }
}

/// Position in the queue at which the next step continues: after this workspace and session. The default is its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RollPosition(Uuid, Uuid);

fn digest(column: &str, bytes: &[u8]) -> Result<Digest> {
    Digest::from_slice(bytes).ok_or_else(|| Error::inconsistent("session_roll", column, bytes.len()))
}

/// The newest place of a roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollHead {
    /// Number of sessions in the roll.
    pub sessions: u64,
    /// Root of the last place.
    pub root: Digest,
}

/// A place that is to be inserted.
struct Place {
    tenant_id: Uuid,
    ordinal: u64,
    session_id: Uuid,
    entry: Digest,
    root: Digest,
}

/// The result of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RollStep {
    /// Number of sessions entered.
    pub entered: u64,
    /// Whether more sessions may be waiting.
    pub more: bool,
    /// Position at which the next step continues.
    pub position: RollPosition,
}

/// Whether sessions wait to be entered.
pub async fn is_due(conn: &mut Conn<'_>) -> Result<bool> {
    let (waiting, unfilled) = run!(conn, fetch_one(i64, i64), IS_DUE)?;
    Ok(waiting > 0 || unfilled > 0)
}

/// Reads at most `max` waiting sessions in key order and enters them, and queues at most `max` sessions that are
/// older than the roll. A session that is gone or has no event stays in the queue, where a verification names it.
/// Does nothing if another server is doing it.
pub async fn step(tx: &mut WriteTx<'_>, after: RollPosition, max: u32) -> Result<RollStep> {
    if let Conn::Postgres(c) = tx.conn() {
        let (is_first,): (bool,) = sqlx::query_as(TRY_LOCK_POSTGRES).fetch_one(&mut **c).await?;
        if !is_first {
            return Ok(RollStep::default());
        }
    }
    let is_filling = fill(tx, max).await?;
    let waiting = run!(tx.conn(), fetch_all WaitingRow, QUEUED, after.0, after.1, i64::from(max))?;
    let mut places: Vec<Place> = Vec::with_capacity(waiting.len());
    for row in &waiting {
        let (Some(session_type), Some(created_by), Some(created_at), Some(first_event)) =
            (&row.session_type, &row.created_by, row.created_at, &row.first_event)
        else {
            continue;
        };
        let before = match places.last() {
            Some(last) if last.tenant_id == row.tenant_id => RollHead { sessions: last.ordinal, root: last.root },
            _ => head(tx.conn(), TenantId(row.tenant_id)).await?,
        };
        let entry = entry_digest(&RollEntry {
            tenant_id: row.tenant_id,
            session_id: row.session_id,
            session_type,
            created_by,
            created_at: from_micros(created_at),
            action_id: row.action_id,
            parent_id: row.parent_id,
            agent_slug: row.agent_slug.as_deref(),
            source: row.source.as_deref(),
            first_event: digest("first_event", first_event)?,
        });
        let ordinal = before.sessions + 1;
        let root = roll_root(before.root, row.tenant_id, ordinal, row.session_id, entry);
        places.push(Place { tenant_id: row.tenant_id, ordinal, session_id: row.session_id, entry, root });
    }
    enter(tx.conn(), &places).await?;
    for (at, last) in places.iter().enumerate() {
        if places.get(at + 1).is_none_or(|next| next.tenant_id != last.tenant_id) {
            let (sessions, root) = (last.ordinal.cast_signed(), last.root.0.to_vec());
            run!(tx.conn(), execute, SAVE_HEAD, last.tenant_id, sessions, root)?;
        }
    }
    let is_full = waiting.len() == max as usize;
    let last = waiting.last().filter(|_| is_full);
    let position = last.map(|row| RollPosition(row.tenant_id, row.session_id)).unwrap_or_default();
    Ok(RollStep { entered: places.len() as u64, more: is_filling || is_full, position })
}

/// The head of a roll.
async fn head(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<RollHead> {
    type Head = (i64, Vec<u8>);
    let Some((sessions, root)) = run!(conn, fetch_optional Head, HEAD, tenant_id.0)? else {
        return Ok(RollHead { sessions: 0, root: Digest::GENESIS });
    };
    Ok(RollHead { sessions: sessions.cast_unsigned(), root: digest("root", &root)? })
}

async fn enter(conn: &mut Conn<'_>, places: &[Place]) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    match conn {
        Conn::Sqlite(c) => {
            for place in places {
                let (ordinal, entry, root) = (place.ordinal.cast_signed(), &place.entry.0[..], &place.root.0[..]);
                c.execute(INSERT, &[&place.tenant_id, &ordinal, &place.session_id, &entry, &root])?;
                c.execute(DEQUEUE, &[&place.tenant_id, &place.session_id])?;
            }
        }
        Conn::Postgres(c) => {
            let tenants: Vec<Uuid> = places.iter().map(|place| place.tenant_id).collect();
            let sessions: Vec<Uuid> = places.iter().map(|place| place.session_id).collect();
            let ordinals: Vec<i64> = places.iter().map(|place| place.ordinal.cast_signed()).collect();
            let entries: Vec<Vec<u8>> = places.iter().map(|place| place.entry.0.to_vec()).collect();
            let roots: Vec<Vec<u8>> = places.iter().map(|place| place.root.0.to_vec()).collect();
            let entering = sqlx::query(INSERT_POSTGRES).bind(&tenants).bind(ordinals).bind(&sessions);
            entering.bind(entries).bind(roots).execute(&mut **c).await?;
            sqlx::query(DEQUEUE_POSTGRES).bind(tenants).bind(sessions).execute(&mut **c).await?;
        }
    }
    Ok(())
}

/// Queues sessions that are older than the roll. Returns whether there may be more.
async fn fill(tx: &mut WriteTx<'_>, max: u32) -> Result<bool> {
    type Cursor = (Option<Uuid>, Option<Uuid>);
    type Older = (Uuid, Uuid, Option<i64>);
    let Some((tenant, session)) = run!(tx.conn(), fetch_optional Cursor, FILL_POSITION)? else { return Ok(false) };
    let (after_tenant, after_session) = (tenant.unwrap_or_default(), session.unwrap_or_default());
    let older = run!(tx.conn(), fetch_all Older, SESSIONS_AFTER, after_tenant, after_session, i64::from(max))?;
    for (tenant, session, _) in older.iter().filter(|(.., ordinal)| ordinal.is_none()) {
        run!(tx.conn(), execute, ENQUEUE, *tenant, *session)?;
    }
    let is_done = older.len() < max as usize;
    let to = older.last().map_or((tenant, session), |(tenant, session, _)| (Some(*tenant), Some(*session)));
    run!(tx.conn(), execute, SAVE_FILL_POSITION, to.0, to.1, i64::from(is_done))?;
    Ok(!is_done)
}

/// Updates a row without changing it, to test whether the database can be written.
pub async fn probe_write(tx: &mut WriteTx<'_>) -> Result<()> {
    run!(tx.conn(), execute, PROBE_WRITE)?;
    Ok(())
}

/// Whether all sessions that are older than the roll are entered or queued.
pub async fn is_filled(conn: &mut Conn<'_>) -> Result<bool> {
    type Cursor = (Option<Uuid>, Option<Uuid>);
    Ok(run!(conn, fetch_optional Cursor, FILL_POSITION)?.is_none())
}

/// The head and the last place of a workspace's roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollState {
    /// Workspace whose roll it is.
    pub tenant_id: TenantId,
    /// The head as stored.
    pub head: RollHead,
    /// Number of the last place.
    pub last: u64,
}

/// The states of all rolls.
pub async fn list_states(conn: &mut Conn<'_>) -> Result<Vec<RollState>> {
    let rows = run!(conn, fetch_all HeadRow, STATES)?;
    let states = rows.into_iter().map(|row| {
        let root = row.root.map_or(Ok(Digest::GENESIS), |root| digest("root", &root))?;
        let head = RollHead { sessions: row.sessions.unwrap_or_default().cast_unsigned(), root };
        let last = row.ordinal.unwrap_or_default().cast_unsigned();
        Ok(RollState { tenant_id: TenantId(row.tenant_id), head, last })
    });
    states.collect()
}

/// A place of a roll, with the current digest of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolledSession {
    /// Number of the place; the first is 1.
    pub ordinal: u64,
    /// Session that was entered at this place.
    pub session_id: SessionId,
    /// Stored digest of the entry.
    pub entry: Digest,
    /// Stored root.
    pub root: Digest,
    /// Digest of the entry computed from the session as it is now; `None` if the session or its first event is
    /// gone.
    pub now: Option<Digest>,
}

/// Places of a roll in order, after `after` and up to `upto`.
pub async fn places(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (after, upto): (u64, u64),
    limit: u32,
) -> Result<Vec<RolledSession>> {
    let (from, to) = (after.cast_signed(), upto.cast_signed());
    let rows = run!(conn, fetch_all PlaceRow, PLACES, tenant_id.0, from, to, i64::from(limit))?;
    rows.into_iter().map(RolledSession::try_from).collect()
}

impl TryFrom<PlaceRow> for RolledSession {
    type Error = Error;

    fn try_from(row: PlaceRow) -> Result<Self> {
        let now = match (&row.session_type, &row.created_by, row.created_at, &row.first_event) {
            (Some(session_type), Some(created_by), Some(created_at), Some(first_event)) => {
                Some(entry_digest(&RollEntry {
                    tenant_id: row.tenant_id,
                    session_id: row.session_id,
                    session_type,
                    created_by,
                    created_at: from_micros(created_at),
                    action_id: row.action_id,
                    parent_id: row.parent_id,
                    agent_slug: row.agent_slug.as_deref(),
                    source: row.source.as_deref(),
                    first_event: digest("first_event", first_event)?,
                }))
            }
            _ => None,
        };
        Ok(Self {
            ordinal: row.ordinal.cast_unsigned(),
            session_id: SessionId(row.session_id),
            entry: digest("entry_digest", &row.entry_digest)?,
            root: digest("root", &row.root)?,
            now,
        })
    }
}

/// Sessions that wait to be entered and no longer exist.
pub async fn list_missing(conn: &mut Conn<'_>, limit: u32) -> Result<Vec<(TenantId, SessionId)>> {
    type Id = (Uuid, Uuid);
    let rows = run!(conn, fetch_all Id, MISSING, i64::from(limit))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), SessionId(id))).collect())
}
