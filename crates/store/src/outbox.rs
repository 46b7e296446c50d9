//! Rows of `outbox`: messages to webhooks and people. Each is delivered at least once.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{MessageId, TenantId},
    notification::{DeliveryMethod, Topic},
};
use uuid::Uuid;

macro_rules! columns {
    () => {
        "tenant_id, id, channel AS method, target_id, topic, payload, created_at, due_at, attempts, last_error, delivered_at, dead_at"
    };
}
macro_rules! waiting {
    ($row:literal) => {
        concat!($row, ".delivered_at IS NULL AND ", $row, ".dead_at IS NULL")
    };
}
// One step to the next workspace, or to a workspace's next receiver, is one look into an index: however long a backlog
// is, it is not read through.
macro_rules! claim {
    ($lock:literal) => {
        concat!(
            "UPDATE outbox SET due_at = $4, attempts = attempts + 1 WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM outbox \
             WHERE tenant_id = $1 AND target_id = $2 AND delivered_at IS NULL AND dead_at IS NULL AND due_at <= $3 \
             ORDER BY due_at LIMIT $5",
            $lock,
            ") RETURNING ",
            columns!()
        )
    };
}

statements! {
    const WORKSPACES_DUE: &str = concat!(
        "WITH RECURSIVE waiting (tenant_id) AS (SELECT (SELECT o.tenant_id FROM outbox o WHERE ",
        waiting!("o"),
        " ORDER BY o.tenant_id LIMIT 1) UNION ALL SELECT (SELECT o.tenant_id FROM outbox o WHERE o.tenant_id > w.tenant_id AND ",
        waiting!("o"),
        " ORDER BY o.tenant_id LIMIT 1) FROM waiting w WHERE w.tenant_id IS NOT NULL) \
         SELECT w.tenant_id FROM waiting w WHERE w.tenant_id IS NOT NULL AND EXISTS (SELECT 1 FROM outbox o \
         WHERE o.tenant_id = w.tenant_id AND o.due_at <= $1 AND ",
        waiting!("o"),
        ") ORDER BY w.tenant_id"
    );
    const RECEIVERS_DUE: &str = concat!(
        "WITH RECURSIVE waiting (target_id) AS (SELECT (SELECT o.target_id FROM outbox o WHERE o.tenant_id = $1 AND ",
        waiting!("o"),
        " ORDER BY o.target_id LIMIT 1) UNION ALL SELECT (SELECT o.target_id FROM outbox o WHERE o.tenant_id = $1 \
         AND o.target_id > w.target_id AND ",
        waiting!("o"),
        " ORDER BY o.target_id LIMIT 1) FROM waiting w WHERE w.target_id IS NOT NULL) \
         SELECT f.channel, f.target_id FROM waiting w JOIN outbox f ON f.tenant_id = $1 AND f.id = (SELECT o.id FROM outbox o \
         WHERE o.tenant_id = $1 AND o.target_id = w.target_id AND o.due_at <= $2 AND ",
        waiting!("o"),
        " ORDER BY o.due_at LIMIT 1) ORDER BY f.due_at, f.id"
    );
    const INSERT: &str = "INSERT INTO outbox (tenant_id, id, channel, target_id, topic, payload, created_at, due_at, attempts) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 0)";
    const INSERT_ONCE: &str = "INSERT INTO outbox (tenant_id, id, channel, target_id, topic, payload, created_at, due_at, attempts) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0) ON CONFLICT (tenant_id, id) DO NOTHING";
    const ANY_DUE: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM outbox \
         WHERE delivered_at IS NULL AND dead_at IS NULL AND due_at <= $1 LIMIT 1) AS one";
    const CLAIM_SQLITE: &str = claim!("");
    const CLAIM_POSTGRES: &str = claim!(" FOR UPDATE SKIP LOCKED");
    const SAVE_DELIVERED: &str = "UPDATE outbox SET delivered_at = $4, last_error = NULL \
         WHERE tenant_id = $1 AND id = $2 AND attempts = $3 AND delivered_at IS NULL AND dead_at IS NULL";
    const SAVE_FAILED: &str = "UPDATE outbox SET last_error = $4, due_at = $5, dead_at = $6 \
         WHERE tenant_id = $1 AND id = $2 AND attempts = $3 AND delivered_at IS NULL AND dead_at IS NULL";
    const OF_TARGET: &str =
        concat!("SELECT ", columns!(), " FROM outbox WHERE tenant_id = $1 AND target_id = $2 ORDER BY id DESC LIMIT $3");
    // CROSS JOIN keeps the order on SQLite: first the webhooks, of which there are few.
    const OF_WEBHOOKS: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM outbox WHERE tenant_id = $1 AND id IN (SELECT m.id FROM webhooks w CROSS JOIN outbox m WHERE w.tenant_id = $1 \
         AND m.tenant_id = $1 AND m.id IN (SELECT n.id FROM outbox n WHERE n.tenant_id = $1 AND n.target_id = w.id \
         ORDER BY n.id DESC LIMIT $2)) ORDER BY id DESC"
    );
    const PRUNE: &str = "DELETE FROM outbox WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM outbox \
         WHERE (delivered_at IS NOT NULL OR dead_at IS NOT NULL) AND created_at < $1 ORDER BY created_at LIMIT $2)";
}

record! {
    /// A message that is waiting, delivered or given up.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MessageRecord of "outbox" {
        /// The workspace it is about.
        pub tenant_id: TenantId,
        /// Identifies the message. Receivers use it as idempotency key.
        pub id: MessageId,
        /// How the message is sent.
        pub method: DeliveryMethod,
        /// The webhook or person it goes to.
        pub target_id: Uuid,
        /// The kind of change that the message reports.
        pub topic: Topic,
        /// JSON object with the subject of the message.
        pub payload: String,
        /// Time of the change (UTC).
        pub created_at: Timestamp,
        /// Time of the next attempt, or the time after which the current attempt counts as lost (UTC).
        pub due_at: Timestamp,
        /// Number of attempts. It is also the fencing token of the current attempt.
        pub attempts: u32,
        /// Error of the last attempt, if it failed.
        pub last_error: Option<String>,
        /// Time of delivery (UTC).
        pub delivered_at: Option<Timestamp>,
        /// Time the message was given up (UTC).
        pub dead_at: Option<Timestamp>,
    }
}

/// Adds a message in the transaction of the change that it reports. It is due at once.
pub async fn push(tx: &mut WriteTx<'_>, message: &MessageRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        message.tenant_id.0,
        message.id.0,
        message.method.as_str(),
        message.target_id,
        message.topic.as_str(),
        message.payload.as_str(),
        to_micros(message.created_at),
    )?;
    Ok(())
}

/// Adds a message that is due at its own time, unless it is there already.
pub async fn push_once(tx: &mut WriteTx<'_>, message: &MessageRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT_ONCE,
        message.tenant_id.0,
        message.id.0,
        message.method.as_str(),
        message.target_id,
        message.topic.as_str(),
        message.payload.as_str(),
        to_micros(message.created_at),
        to_micros(message.due_at),
    )?;
    Ok(())
}

/// Whether a message is due. A check that finds none needs no write transaction.
pub async fn any_due(conn: &mut Conn<'_>, now: Timestamp) -> Result<bool> {
    let (count,) = run!(conn, fetch_one(i64,), ANY_DUE, to_micros(now))?;
    Ok(count > 0)
}

/// Workspaces with messages that are due, in id order.
pub async fn workspaces_due(conn: &mut Conn<'_>, now: Timestamp) -> Result<Vec<TenantId>> {
    let rows = run!(conn, fetch_all(Uuid,), WORKSPACES_DUE, to_micros(now))?;
    Ok(rows.into_iter().map(|(id,)| TenantId(id)).collect())
}

/// Receivers with due messages in a workspace, the longest waiting first.
pub async fn receivers_due(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    now: Timestamp,
) -> Result<Vec<(DeliveryMethod, Uuid)>> {
    let rows = run!(conn, fetch_all(String, Uuid), RECEIVERS_DUE, tenant_id.0, to_micros(now))?;
    let parse = |(channel, target_id): (String, Uuid)| {
        let known =
            DeliveryMethod::parse(&channel).ok_or_else(|| Error::inconsistent("outbox", "channel", &channel))?;
        Ok((known, target_id))
    };
    rows.into_iter().map(parse).collect()
}

/// Claims at most `max` due messages to one receiver until `until`. A message without an outcome by then
/// can be claimed again by another server.
pub async fn claim(
    tx: &mut WriteTx<'_>,
    (tenant_id, target_id): (TenantId, Uuid),
    now: Timestamp,
    until: Timestamp,
    max: u32,
) -> Result<Vec<MessageRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { CLAIM_SQLITE } else { CLAIM_POSTGRES };
    let (now, until) = (to_micros(now), to_micros(until));
    Ok(run!(tx.conn(), fetch_all MessageRecord, sql, tenant_id.0, target_id, now, until, i64::from(max))?)
}

/// Records that a message was delivered. Returns `false` if it has been taken again since.
pub async fn delivered(tx: &mut WriteTx<'_>, message: &MessageRecord, at: Timestamp) -> Result<bool> {
    let (tenant_id, id, attempts) = (message.tenant_id.0, message.id.0, i64::from(message.attempts));
    Ok(run!(tx.conn(), execute, SAVE_DELIVERED, tenant_id, id, attempts, to_micros(at))? == 1)
}

/// What happens to a message that was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The next attempt is at this time.
    Try(Timestamp),
    /// The message is given up at this time.
    Dead(Timestamp),
}

/// Records that an attempt failed. Returns `false` if the message has been taken again since.
pub async fn failed(tx: &mut WriteTx<'_>, message: &MessageRecord, error: &str, next: Next) -> Result<bool> {
    let (tenant_id, id, attempts) = (message.tenant_id.0, message.id.0, i64::from(message.attempts));
    let (due_at, dead_at) = match next {
        Next::Try(at) => (at, None),
        Next::Dead(at) => (message.due_at, Some(to_micros(at))),
    };
    Ok(run!(tx.conn(), execute, SAVE_FAILED, tenant_id, id, attempts, error, to_micros(due_at), dead_at)? == 1)
}

/// The newest messages to one webhook or person.
pub async fn of_target(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    target_id: Uuid,
    max: u32,
) -> Result<Vec<MessageRecord>> {
    Ok(run!(conn, fetch_all MessageRecord, OF_TARGET, tenant_id.0, target_id, i64::from(max))?)
}

/// The newest messages of all webhooks, at most `max` of each, newest first.
pub async fn of_webhooks(conn: &mut Conn<'_>, tenant_id: TenantId, max: u32) -> Result<Vec<MessageRecord>> {
    Ok(run!(conn, fetch_all MessageRecord, OF_WEBHOOKS, tenant_id.0, i64::from(max))?)
}

/// Removes at most `max` messages from before `before` that arrived or were given up.
pub async fn prune(tx: &mut WriteTx<'_>, before: Timestamp, max: u32) -> Result<u64> {
    Ok(run!(tx.conn(), execute, PRUNE, to_micros(before), i64::from(max))?)
}
