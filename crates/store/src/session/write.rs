//! Inserts sessions and saves their changes, with the events of each change.

use super::{due, state::ELSEWHERE};
use crate::{
    engine::{Conn, Error, Result, is_unique_violation, run, spanned, statements},
    event::{self, Head, Notice, PreparedEvent, link},
    memory_writer,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{to_micros, truncate},
    human,
    id::{SessionId, TenantId},
    limit::DOCUMENT_BYTES_MAX,
    memory_writer::channel::Channel,
    session::{EndReason, Session, Status, Usage, WaitsFor},
};
use sqlx::AssertSqlSafe;
use std::sync::{Arc, LazyLock};

statements! {
    const INSERT: &str = "INSERT INTO sessions (tenant_id, id, session_type, status, action_id, action_slug, agent_slug, user_id, \
         source, title, input, metadata, parent_id, retry_of, created_by, idempotency_key, idempotency_digest, attempt, \
         attempts_max, head_sequence, head_digest, created_at, updated_at, queued_at, started_at, entity_id, time_limits, deadline_at, \
         waits_for, dependency_count, private_to, end_reason, result, completed_at, channel) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, \
         $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35)";
    const SAVE: &str = "UPDATE sessions SET status = $3, end_reason = $4, result = $5, usage = $6, error_message = $7, \
         error_code = $8, attempt = $9, lease_seconds = $10, lease_expires_at = $11, head_sequence = $12, head_digest = $13, \
         updated_at = $14, queued_at = $15, started_at = $16, completed_at = $17, deadline_at = $20, waits_for = $21, \
         attempts_max = $22, cost_micros = $23 \
         WHERE tenant_id = $1 AND id = $2 AND status = $18 AND attempt = $19";
    // A repeat finds what is there: the result of a session never changes.
    const INSERT_RESULT: &str = "INSERT INTO session_results (tenant_id, session_id, result) VALUES ($1, $2, $3) \
         ON CONFLICT (tenant_id, session_id) DO NOTHING";
    const BEGIN_RUN: &str = "UPDATE sessions SET agent_slug = $3, title = $4, input = $5, metadata = $6, time_limits = $7 \
         WHERE tenant_id = $1 AND id = $2 AND status = 'draft'";
    const RETITLE: &str = "UPDATE sessions SET title = $3 WHERE tenant_id = $1 AND id = $2";
}

/// Both writes of a status change in one round trip.
static SAVE_POSTGRES: LazyLock<String> =
    LazyLock::new(|| format!("WITH written AS ({}) {SAVE}", event::insert_postgres(24)));

pub(crate) fn made() -> Vec<(&'static str, String)> {
    vec![("session::write::SAVE_POSTGRES", SAVE_POSTGRES.clone())]
}

/// What makes a repeated create the same one.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// The client's key.
    pub key: String,
    /// Digest of the request.
    pub digest: [u8; 32],
}

/// What inserting a session found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// The session did not exist before and is inserted.
    New,
    /// The idempotency key was taken meanwhile: read that session.
    KeyTaken,
    /// A working session of this person began meanwhile. On PostgreSQL the transaction is lost: begin it again.
    AlreadyWorking,
}

/// Inserts a session with its first events. `session` is updated with its new head. A session may be inserted as
/// completed; usage and an error are only written by [`save`].
pub async fn insert(
    tx: &mut WriteTx<'_>,
    session: &mut Session,
    idempotency: Option<&Idempotency>,
    events: &[PreparedEvent],
) -> Result<Inserted> {
    let actor = session.created_by.clone();
    let at = session.created_at;
    let rows = extend(session, events, None, &actor, at);
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        session.tenant_id.0,
        session.id.0,
        session.session_type.as_str(),
        session.status().as_str(),
        session.action_id.map(|id| id.0),
        session.action_slug.as_deref(),
        session.agent_slug.as_deref(),
        session.user_id.map(|id| id.0),
        session.source.as_deref(),
        session.title.as_str(),
        session.input.as_deref(),
        session.metadata.as_str(),
        session.parent_id.map(|id| id.0),
        session.retry_of.map(|id| id.0),
        session.created_by.as_str(),
        idempotency.map(|i| i.key.as_str()),
        idempotency.map(|i| &i.digest[..]),
        i64::from(session.attempt),
        i64::from(session.attempts_max),
        session.head_sequence.cast_signed(),
        &session.head_digest.0[..],
        to_micros(session.created_at),
        to_micros(session.updated_at),
        session.queued_at.map(to_micros),
        session.started_at.map(to_micros),
        session.entity_id.map(|id| id.0),
        due::limits_text(&session.time_limits)?,
        session.deadline_at().map(to_micros),
        session.waits_for().map(WaitsFor::as_str),
        i64::from(session.dependency_count),
        session.private_to.as_deref(),
        session.end_reason().map(EndReason::as_str),
        result_column(session),
        session.completed_at().map(to_micros),
        channel_of(session),
    );
    match inserted {
        Err(error) if is_unique_violation(&error) && idempotency.is_some() => return Ok(Inserted::KeyTaken),
        Err(error) if is_unique_violation(&error) && session.source.as_deref() == Some(human::SOURCE) => {
            return Ok(Inserted::AlreadyWorking);
        }
        other => other?,
    };
    event::insert(tx.conn(), &rows).await?;
    insert_result(tx.conn(), session).await?;
    announce(tx, session, rows, true);
    Ok(Inserted::New)
}

/// The channel by which an agent's session is found. Incognito sessions are on none. A channel for which no one can ask
/// is left out: PostgreSQL indexes at most 2,704 bytes.
pub(super) fn channel_of(session: &Session) -> Option<String> {
    if session.agent_slug.is_none() || session.private_to.is_some() {
        return None;
    }
    let channel = Channel::of_session(&session.metadata, session.source.as_deref(), session.user_id);
    let channel = channel.filter(Channel::can_be_found)?;
    Some(Channel::key(&channel.platform, &channel.id))
}

/// Writes a changed session and its events, if it still has the status and attempt of `before`.
///
/// # Errors
/// [`Error::Inconsistent`] when the compare-and-set finds another status: the caller held no lock.
pub async fn save(
    tx: &mut WriteTx<'_>,
    before: &Session,
    session: &mut Session,
    events: &[PreparedEvent],
    attempt: Option<u32>,
    actor: &str,
    at: Timestamp,
) -> Result<()> {
    session.updated_at = truncate(at);
    let rows = extend(session, events, attempt, actor, at);
    let changed = save_row(tx.conn(), before, session, &rows).await?;
    #[cfg(feature = "planted-bugs")]
    let changed = if crate::engine::planted::is(crate::engine::planted::Bug::DoubleClaim) {
        force_head(tx, session).await?
    } else {
        changed
    };
    if changed != 1 {
        return Err(Error::inconsistent("sessions", "status", "changed under a lock"));
    }
    if !before.status().is_final() {
        insert_result(tx.conn(), session).await?;
    }
    if before.status() == Status::Idle
        && let Some(agent) = session.agent_slug.as_deref()
    {
        memory_writer::reopen(tx, session.tenant_id, agent, session.id).await?;
    }
    announce(tx, session, rows, before.status() != session.status());
    Ok(())
}

/// What the column `result` has: the result, unless that is large.
fn result_column(session: &Session) -> Option<&str> {
    let is_elsewhere = session.result_left_out() || large_result(session).is_some();
    if is_elsewhere { Some(ELSEWHERE) } else { session.result() }
}

/// The result, if it is so large that it is kept apart from the row, which lists read.
fn large_result(session: &Session) -> Option<&str> {
    session.result().filter(|result| result.len() > DOCUMENT_BYTES_MAX)
}

async fn insert_result(conn: &mut Conn<'_>, session: &Session) -> Result<()> {
    if let Some(result) = large_result(session) {
        run!(conn, execute, INSERT_RESULT, session.tenant_id.0, session.id.0, result)?;
    }
    Ok(())
}

/// The compare-and-set and the events. How many rows it changed: one, unless the session is not what it was.
async fn save_row(conn: &mut Conn<'_>, before: &Session, session: &Session, rows: &[event::NewRow]) -> Result<u64> {
    macro_rules! bound {
        ($with:ident) => {
            $with!(
                session.tenant_id.0,
                session.id.0,
                session.status().as_str(),
                session.end_reason().map(EndReason::as_str),
                result_column(session),
                session.usage.as_deref(),
                session.error_message(),
                session.error_code(),
                i64::from(session.attempt),
                session.lease_seconds().map(i64::from),
                session.lease_expires_at().map(to_micros),
                session.head_sequence.cast_signed(),
                &session.head_digest.0[..],
                to_micros(session.updated_at),
                session.queued_at.map(to_micros),
                session.started_at.map(to_micros),
                session.completed_at().map(to_micros),
                before.status().as_str(),
                i64::from(before.attempt),
                session.deadline_at().map(to_micros),
                session.waits_for().map(WaitsFor::as_str),
                i64::from(session.attempts_max),
                Usage::read(session.usage.as_deref()).cost_micros()
            )
        };
    }
    match conn {
        Conn::Sqlite(c) => {
            macro_rules! execute {
                ($($bind:expr),+) => { c.execute(SAVE, &[$(&$bind as &dyn rusqlite::ToSql),+]) };
            }
            let changed = spanned!(SAVE, execute, bound!(execute))?;
            event::insert_sqlite(c, rows)?;
            Ok(changed)
        }
        Conn::Postgres(c) => {
            macro_rules! query {
                ($($bind:expr),+) => { sqlx::query(AssertSqlSafe(SAVE_POSTGRES.as_str()))$(.bind($bind))+ };
            }
            let query = event::bind_rows(bound!(query), rows);
            Ok(spanned!(SAVE_POSTGRES, execute, query.execute(&mut **c).await.map(|done| done.rows_affected()))?)
        }
    }
}

/// Writes what a draft of a tool's run begins with: agent, title, input, metadata and time limits. [`save`] writes the
/// rest. The event of the change of status binds them.
pub async fn begin_run(tx: &mut WriteTx<'_>, session: &Session) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        BEGIN_RUN,
        session.tenant_id.0,
        session.id.0,
        session.agent_slug.as_deref(),
        session.title.as_str(),
        session.input.as_deref(),
        session.metadata.as_str(),
        due::limits_text(&session.time_limits)?,
    )?;
    Ok(())
}

/// Changes the title of a session. The log does not record it.
pub async fn retitle(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, title: &str) -> Result<()> {
    run!(tx.conn(), execute, RETITLE, tenant_id.0, id.0, title)?;
    Ok(())
}

/// Links events to the session's head.
pub(super) fn extend(
    session: &mut Session,
    events: &[PreparedEvent],
    attempt: Option<u32>,
    actor: &str,
    at: Timestamp,
) -> Vec<event::NewRow> {
    let mut head = Head::of(session);
    let rows = events.iter().map(|event| link(&mut head, event, attempt, actor, at)).collect();
    session.head_sequence = head.head_sequence;
    session.head_digest = head.head_digest;
    rows
}

fn announce(tx: &mut WriteTx<'_>, session: &Session, rows: Vec<event::NewRow>, status_changed: bool) {
    tx.notice(Notice {
        tenant_id: session.tenant_id,
        session_id: session.id,
        head_sequence: session.head_sequence,
        status: session.status(),
        status_changed,
        events: rows.into_iter().map(|row| row.record).collect::<Arc<[_]>>(),
    });
}

/// The planted bug's second half: writes the head although the compare-and-set found another status.
#[cfg(feature = "planted-bugs")]
async fn force_head(tx: &mut WriteTx<'_>, session: &Session) -> Result<u64> {
    const FORCE: &str = "UPDATE sessions SET head_sequence = $3, head_digest = $4 WHERE tenant_id = $1 AND id = $2";
    let head = session.head_sequence.cast_signed();
    Ok(run!(tx.conn(), execute, FORCE, session.tenant_id.0, session.id.0, head, &session.head_digest.0[..])?)
}
