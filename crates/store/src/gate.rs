//! Rows of `gates` and `gate_reviewers`: pauses that wait for a decision, and their reviewers.

mod decision;
pub(crate) mod inbox;
mod reviewer;
mod snooze;
mod write;

pub use decision::{add_decision, decisions};
pub use inbox::{Inbox, Whose, count, held_by, list};
pub use reviewer::{add_reviewer, is_reviewer, reviewers, reviewers_left, reviewers_wanting_email, short_of_reviewers};
pub use snooze::{snooze, snoozed_until, unsnooze};
pub use write::{insert, save};

use crate::{
    conn::{Conn, run},
    error::{Error, Result},
    record::GateRecord,
    sqlite::row,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::{from_micros, to_micros},
    gate::{GateKind, GateState, Principal, Task, Verdict},
    id::{ActionId, EntityId, GateId, SessionId, TenantId, UserId},
};
use uuid::Uuid;

macro_rules! gate_select {
    ($rest:expr) => {
        concat!(
            "SELECT g.tenant_id, g.id, g.session_id, g.action_id, g.entity_id, g.agent_slug, g.kind, g.state, g.title, g.task, \
             g.task_digest, g.similar_key, g.criteria, g.score, g.flags, g.attempt, g.quorum, g.self_approval, g.requested_by, \
             g.requester_id, g.opened_at, g.order_at, g.due_at, g.remind_at, g.reminded_at, g.escalate_at, g.escalate_to, g.escalated_at, \
             g.held_until, g.settled_at, g.outcome, a.name AS action_name, e.title AS entity_title FROM gates g \
             LEFT JOIN actions a ON a.tenant_id = g.tenant_id AND a.id = g.action_id \
             LEFT JOIN entities e ON e.tenant_id = g.tenant_id AND e.id = g.entity_id WHERE ",
            $rest
        )
    };
}
pub(crate) use gate_select;

const BY_ID: &str = gate_select!("g.tenant_id = $1 AND g.id = $2");
const BY_ID_LOCKED_POSTGRES: &str = gate_select!("g.tenant_id = $1 AND g.id = $2 FOR UPDATE OF g");
const WAITING: &str = gate_select!("g.tenant_id = $1 AND g.session_id = $2 AND g.state IN ('open', 'held')");
const WAITING_LOCKED_POSTGRES: &str =
    gate_select!("g.tenant_id = $1 AND g.session_id = $2 AND g.state IN ('open', 'held') FOR UPDATE OF g");
// Each attempt of a session comes to at most one gate.
const NEWEST_OF_SESSION: &str = gate_select!("g.tenant_id = $1 AND g.session_id = $2 ORDER BY g.attempt DESC LIMIT 1");
const WAITING_OF_ACTION: &str = gate_select!(
    "g.tenant_id = $1 AND g.state = 'open' AND g.session_id IN (SELECT s.id FROM sessions s WHERE s.tenant_id = $1 \
     AND s.action_id = $2 AND s.status IN ('waiting_human', 'awaiting_tool')) ORDER BY g.id LIMIT $3"
);
const LAST_OF_ACTION: &str = gate_select!(
    "g.tenant_id = $1 AND g.state <> 'open' AND g.session_id = (SELECT s.id FROM sessions s WHERE s.tenant_id = $1 \
     AND s.action_id = $2 ORDER BY s.id DESC LIMIT 1) ORDER BY g.attempt DESC LIMIT 1"
);
macro_rules! of_sessions {
    ($ids:literal) => {
        gate_select!(concat!("g.tenant_id = $1 AND g.state IN ('open', 'held') AND g.session_id ", $ids))
    };
}
const OF_SESSIONS_SQLITE: &str = of_sessions!("IN (SELECT unhex(value) FROM json_each($2))");
const OF_SESSIONS_POSTGRES: &str = of_sessions!("= ANY($2)");
const DENIED: &str = gate_select!(
    "g.tenant_id = $1 AND g.session_id = $2 AND g.state = 'settled' AND g.outcome = 'deny' AND g.kind IN ('output', 'fields') \
     ORDER BY g.attempt"
);
const SETTLED_OF_SESSION: &str = gate_select!(
    "g.tenant_id = $1 AND g.session_id = $2 AND g.state = 'settled' AND g.kind <> 'question' AND g.settled_at <= $3 \
     ORDER BY g.attempt DESC LIMIT $4"
);
const TO_WAKE: &str = "SELECT tenant_id, id, session_id FROM gates WHERE wake_at <= $1 ORDER BY wake_at LIMIT $2";
pub(crate) const SQL: &[(&str, &str)] = &[
    ("gate::BY_ID", BY_ID),
    ("gate::WAITING", WAITING),
    ("gate::NEWEST_OF_SESSION", NEWEST_OF_SESSION),
    ("gate::WAITING_OF_ACTION", WAITING_OF_ACTION),
    ("gate::LAST_OF_ACTION", LAST_OF_ACTION),
    ("gate::DENIED", DENIED),
    ("gate::SETTLED_OF_SESSION", SETTLED_OF_SESSION),
    ("gate::TO_WAKE", TO_WAKE),
    ("gate::decision::ADD", decision::ADD),
    ("gate::inbox::MINE", inbox::MINE),
    ("gate::inbox::MINE_SNOOZED", inbox::MINE_SNOOZED),
    ("gate::inbox::ALL", inbox::ALL),
    ("gate::inbox::HELD_BY", inbox::HELD_BY),
    ("gate::inbox::COUNT_MINE", inbox::COUNT_MINE),
    ("gate::snooze::SNOOZE", snooze::SNOOZE),
    ("gate::snooze::UNSNOOZE", snooze::UNSNOOZE),
    ("gate::write::INSERT", write::INSERT),
    ("gate::write::SAVE", write::SAVE),
    ("gate::reviewer::ADD", reviewer::ADD),
    ("gate::reviewer::IS", reviewer::IS),
    ("gate::reviewer::WANTING_EMAIL", reviewer::WANTING_EMAIL),
    ("gate::reviewer::SHORT", reviewer::SHORT),
    ("gate::reviewer::LEFT", reviewer::LEFT),
];
pub(crate) const SQLITE_SQL: &[(&str, &str)] = &[
    ("gate::OF_SESSIONS_SQLITE", OF_SESSIONS_SQLITE),
    ("gate::decision::OF_GATES_SQLITE", decision::OF_GATES_SQLITE),
    ("gate::reviewer::OF_GATES_SQLITE", reviewer::OF_GATES_SQLITE),
    ("gate::snooze::UNTIL_SQLITE", snooze::UNTIL_SQLITE),
];
pub(crate) const POSTGRES_SQL: &[(&str, &str)] = &[
    ("gate::OF_SESSIONS_POSTGRES", OF_SESSIONS_POSTGRES),
    ("gate::decision::OF_GATES_POSTGRES", decision::OF_GATES_POSTGRES),
    ("gate::reviewer::OF_GATES_POSTGRES", reviewer::OF_GATES_POSTGRES),
    ("gate::snooze::UNTIL_POSTGRES", snooze::UNTIL_POSTGRES),
    ("gate::BY_ID_LOCKED_POSTGRES", BY_ID_LOCKED_POSTGRES),
    ("gate::WAITING_LOCKED_POSTGRES", WAITING_LOCKED_POSTGRES),
];

row! {
    pub(crate) struct Row {
        tenant_id: Uuid,
        id: Uuid,
        session_id: Uuid,
        action_id: Option<Uuid>,
        entity_id: Option<Uuid>,
        agent_slug: Option<String>,
        kind: String,
        state: String,
        title: String,
        task: String,
        task_digest: Vec<u8>,
        similar_key: String,
        criteria: Option<String>,
        score: Option<f64>,
        flags: String,
        attempt: i64,
        quorum: i64,
        self_approval: bool,
        requested_by: String,
        requester_id: Option<Uuid>,
        opened_at: i64,
        order_at: i64,
        due_at: Option<i64>,
        remind_at: Option<i64>,
        reminded_at: Option<i64>,
        escalate_at: Option<i64>,
        escalate_to: Option<String>,
        escalated_at: Option<i64>,
        held_until: Option<i64>,
        settled_at: Option<i64>,
        outcome: Option<String>,
        action_name: Option<String>,
        entity_title: Option<String>,
    }
}

impl TryFrom<Row> for GateRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("gates", column, value);
        let outcome = match &row.outcome {
            None => None,
            Some(text) => Some(Verdict::parse(text).ok_or_else(|| bad("outcome", text))?),
        };
        let escalate_to = match &row.escalate_to {
            None => None,
            Some(text) => Some(Principal::parse(text).ok_or_else(|| bad("escalate_to", text))?),
        };
        Ok(Self {
            tenant_id: TenantId(row.tenant_id),
            id: GateId(row.id),
            session_id: SessionId(row.session_id),
            action_id: row.action_id.map(ActionId),
            entity_id: row.entity_id.map(EntityId),
            agent_slug: row.agent_slug,
            kind: GateKind::parse(&row.kind).ok_or_else(|| bad("kind", &row.kind))?,
            state: GateState::parse(&row.state).ok_or_else(|| bad("state", &row.state))?,
            title: row.title,
            task: Task::parse(&row.task).map_err(|_| bad("task", &row.task))?,
            task_digest: Digest::from_slice(&row.task_digest)
                .ok_or_else(|| bad("task_digest", &row.task_digest.len()))?,
            similar_key: row.similar_key,
            criteria: row.criteria,
            score: row.score,
            flags: serde_json::from_str(&row.flags).map_err(|_| bad("flags", &row.flags))?,
            attempt: u32::try_from(row.attempt).map_err(|_| bad("attempt", &row.attempt))?,
            quorum: u32::try_from(row.quorum).map_err(|_| bad("quorum", &row.quorum))?,
            self_approval: row.self_approval,
            requested_by: row.requested_by,
            requester_id: row.requester_id.map(UserId),
            opened_at: from_micros(row.opened_at),
            order_at: row.order_at,
            due_at: row.due_at.map(from_micros),
            remind_at: row.remind_at.map(from_micros),
            reminded_at: row.reminded_at.map(from_micros),
            escalate_at: row.escalate_at.map(from_micros),
            escalate_to,
            escalated_at: row.escalated_at.map(from_micros),
            held_until: row.held_until.map(from_micros),
            settled_at: row.settled_at.map(from_micros),
            outcome,
            action_name: row.action_name,
            entity_title: row.entity_title,
        })
    }
}

fn record(row: Option<Row>) -> Result<Option<GateRecord>> {
    row.map(GateRecord::try_from).transpose()
}

fn records(rows: Vec<Row>) -> Result<Vec<GateRecord>> {
    rows.into_iter().map(GateRecord::try_from).collect()
}

/// A gate of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: GateId) -> Result<Option<GateRecord>> {
    record(run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. Lock its session first. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: GateId) -> Result<Option<GateRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    record(run!(tx.conn(), fetch_optional Row, sql, tenant_id.0, id.0)?)
}

/// Ids as the engine takes a list of them.
fn hex_list(ids: &[GateId]) -> String {
    hex_uuids(ids.iter().map(|id| id.0))
}

fn hex_uuids(ids: impl Iterator<Item = Uuid>) -> String {
    let hex: Vec<String> = ids.map(|id| id.simple().to_string()).collect();
    serde_json::Value::from(hex).to_string()
}

/// The gate at which a session waits, locked like [`find_locked`].
pub async fn waiting_locked(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
) -> Result<Option<GateRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { WAITING } else { WAITING_LOCKED_POSTGRES };
    record(run!(tx.conn(), fetch_optional Row, sql, tenant_id.0, session_id.0)?)
}

/// The gate at which a session waits.
pub async fn waiting(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<Option<GateRecord>> {
    record(run!(conn, fetch_optional Row, WAITING, tenant_id.0, session_id.0)?)
}

/// The gates at which these sessions wait, decided ones included whose effect is held back.
pub async fn waiting_of_sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[SessionId],
) -> Result<Vec<GateRecord>> {
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

/// The newest gate of a session.
pub async fn newest_of_session(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
) -> Result<Option<GateRecord>> {
    record(run!(conn, fetch_optional Row, NEWEST_OF_SESSION, tenant_id.0, session_id.0)?)
}

/// Open gates of an action's sessions, oldest first.
pub async fn waiting_of_action(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action_id: ActionId,
    max: u32,
) -> Result<Vec<GateRecord>> {
    records(run!(conn, fetch_all Row, WAITING_OF_ACTION, tenant_id.0, action_id.0, i64::from(max))?)
}

/// The last gate of the action's newest session that is no longer open.
pub async fn last_of_action(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action_id: ActionId,
) -> Result<Option<GateRecord>> {
    record(run!(conn, fetch_optional Row, LAST_OF_ACTION, tenant_id.0, action_id.0)?)
}

/// Gates of a session whose output was denied, oldest first.
pub async fn denied(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<Vec<GateRecord>> {
    records(run!(conn, fetch_all Row, DENIED, tenant_id.0, session_id.0)?)
}

/// The newest gates of a session that were settled by `until`, without questions.
pub async fn settled_of_session(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    until: Timestamp,
    max: u32,
) -> Result<Vec<GateRecord>> {
    records(run!(conn, fetch_all Row, SETTLED_OF_SESSION, tenant_id.0, session_id.0, to_micros(until), i64::from(max))?)
}

/// Gates of every workspace that a sweep has to handle now: an effect is due, or a deadline has passed.
pub async fn to_wake(conn: &mut Conn<'_>, now: Timestamp, max: u32) -> Result<Vec<(TenantId, GateId, SessionId)>> {
    let rows = run!(conn, fetch_all(Uuid, Uuid, Uuid), TO_WAKE, to_micros(now), i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant, id, session)| (TenantId(tenant), GateId(id), SessionId(session))).collect())
}
