//! Completions that change nothing but their session: two round trips on PostgreSQL for all that wait together.
//!
//! The function `shiftbook_seen` reads the sessions without locks. Each completion is decided from its row, and gets
//! its digests before the function `shiftbook_complete` writes those whose rows still have the version that was read
//! (`xmin`). So no lock is held while the server works, and a change in between is never overwritten.

use super::Row;
use crate::{
    engine::{Access, Error, Result, is_lock_failure, spanned, statements},
    event::{Head, NewRow, Notice, PreparedEvent, bind_rows, link},
};
use domain::{
    Timestamp,
    action::OutputType,
    clock::{to_micros, truncate},
    event::Event,
    id::{SessionId, TenantId, UserId},
    session::{EndReason, Session, Status, Usage},
};
use sqlx::{FromRow as _, PgConnection, Row as _, postgres::PgRow};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
};
use uuid::Uuid;

statements! {
    const SEEN_POSTGRES: &str = "SELECT (c.seen).*, c.version, c.output_type, c.output_config, c.action_metadata \
         FROM shiftbook_seen($1, $2, $3) AS c";
    /// Returns the ids of the sessions that were written. Parameters: workspace, person, statuses before and after,
    /// end reason; per session, in id order, its id, the version that was read and its new values; then the columns of
    /// the events.
    const COMPLETE_POSTGRES: &str = "SELECT shiftbook_complete($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)";
}

/// A session as it was read, without a lock.
#[derive(Debug)]
pub struct SeenSession {
    /// As it was when it was read: it may have changed since.
    pub session: Session,
    /// The contract of its action; `None` if it has no action.
    pub contract: Option<SeenContract>,
}

/// The columns of an action by which the results of its sessions are judged.
#[derive(Debug)]
pub struct SeenContract {
    /// What the action's sessions produce.
    pub output_type: OutputType,
    /// Settings of the output: a JSON object.
    pub output_config: String,
    /// Free data of the client: a JSON object.
    pub metadata: String,
}

/// A running session that becomes completed, with the events of this change.
#[derive(Debug)]
pub struct PlainCompletion {
    /// The session after the change, with the head before it.
    pub session: Session,
    /// The events of the change, oldest first.
    pub events: Vec<PreparedEvent>,
    /// Whether the turn that ends is enqueued for capture.
    pub is_captured: bool,
    /// Stored as actor of the events.
    pub actor: String,
    /// Time of the change (UTC).
    pub at: Timestamp,
}

/// Decides a completion. Returns `None` if it has to be refused, or has effects on anything but the session, its log
/// and the queue of captures: then the general path decides it again.
pub type DecideCompletion = Box<dyn FnOnce(SeenSession) -> Option<PlainCompletion> + Send>;

/// The workspace and the person of a statement.
type Place = (TenantId, Option<UserId>);

/// A completion that has its digests.
struct Planned {
    version: String,
    is_captured: bool,
    session: Session,
}

/// Completes sessions of one workspace, each of them once. Returns those that were completed, with their notices. The
/// others are unchanged and have to take the general path.
///
/// # Errors
/// Those after which it is not known whether the sessions were completed.
pub(crate) async fn complete_together(
    connection: &mut PgConnection,
    access: Access,
    wanted: Vec<(SessionId, DecideCompletion)>,
) -> Result<HashMap<SessionId, (Session, Notice)>> {
    let Access::Tenant { tenant_id, user_id } = access else { return Ok(HashMap::new()) };
    let place = (tenant_id, user_id);
    let ids: Vec<Uuid> = wanted.iter().map(|(id, _)| id.0).collect();
    let mut seen = see(connection, place, ids).await?;
    let (mut planned, mut rows) = (BTreeMap::new(), Vec::new());
    for (id, decide) in wanted {
        if let Some((version, session)) = seen.remove(&id)
            && let Some(completion) = decided(decide, session)
            && is_done(&completion.session)
        {
            planned.insert(id, plan(version, completion, &mut rows));
        }
    }
    if planned.is_empty() {
        return Ok(HashMap::new());
    }
    let written = write(connection, place, &planned, &rows).await;
    match written {
        Ok(written) => Ok(announced(planned, rows, &written)),
        // Another transaction holds a session. The general path waits for it.
        Err(error) if is_lock_failure(&error) => Ok(HashMap::new()),
        // The database refused the statement, so nothing was written.
        Err(error) if error.as_database_error().is_some() && Error::from(&error).is_of_item() => {
            tracing::warn!(%error, sessions = planned.len(), "completions are tried one by one");
            Ok(HashMap::new())
        }
        Err(error) => Err(error.into()),
    }
}

/// Decides a completion. One that panics is left to the general path, where it fails alone.
fn decided(decide: DecideCompletion, seen: SeenSession) -> Option<PlainCompletion> {
    catch_unwind(AssertUnwindSafe(|| decide(seen))).ok().flatten()
}

/// Whether the session is in the only final state with which `shiftbook_complete` is called.
fn is_done(session: &Session) -> bool {
    session.status() == Status::Completed && session.end_reason() == Some(EndReason::Done)
}

/// Reads the sessions and the versions of their rows. A row that contradicts itself is left out: the general path says
/// why.
async fn see(
    connection: &mut PgConnection,
    (tenant_id, user_id): Place,
    ids: Vec<Uuid>,
) -> Result<HashMap<SessionId, (String, SeenSession)>> {
    let query = sqlx::query(SEEN_POSTGRES).bind(tenant_id.0).bind(user_id.map(|id| id.0)).bind(ids);
    let rows = spanned!(SEEN_POSTGRES, fetch_all, query.fetch_all(connection).await)?;
    Ok(rows.iter().filter_map(|row| seen(row).ok()).map(|(version, seen)| (seen.session.id, (version, seen))).collect())
}

fn seen(row: &PgRow) -> Result<(String, SeenSession)> {
    let session = Session::try_from(Row::from_row(row)?)?;
    let contract = match row.try_get::<Option<String>, _>("output_type")? {
        None => None,
        Some(text) => Some(SeenContract {
            output_type: OutputType::parse(&text)
                .ok_or_else(|| Error::inconsistent("actions", "output_type", &text))?,
            output_config: row.try_get("output_config")?,
            metadata: row.try_get("action_metadata")?,
        }),
    };
    Ok((row.try_get("version")?, SeenSession { session, contract }))
}

/// Links the events to the session's head, and adds their rows.
fn plan(version: String, completion: PlainCompletion, rows: &mut Vec<NewRow>) -> Planned {
    let PlainCompletion { mut session, events, is_captured, actor, at } = completion;
    let (mut head, attempt) = (Head::of(&session), Some(session.attempt));
    rows.extend(events.iter().map(|event| link(&mut head, event, attempt, &actor, at)));
    (session.head_sequence, session.head_digest) = (head.head_sequence, head.head_digest);
    session.updated_at = truncate(at);
    Planned { version, is_captured, session }
}

async fn write(
    connection: &mut PgConnection,
    (tenant_id, user_id): Place,
    planned: &BTreeMap<SessionId, Planned>,
    rows: &[NewRow],
) -> std::result::Result<HashSet<Uuid>, sqlx::Error> {
    macro_rules! column {
        ($value:expr) => {
            planned.values().map($value).collect::<Vec<_>>()
        };
    }
    let query = sqlx::query(COMPLETE_POSTGRES)
        .bind(tenant_id.0)
        .bind(user_id.map(|id| id.0))
        .bind(Status::Running.as_str())
        .bind(Status::Completed.as_str())
        .bind(EndReason::Done.as_str())
        .bind(column!(|p| p.session.id.0))
        .bind(column!(|p| p.version.as_str()))
        .bind(column!(|p| p.session.result()))
        .bind(column!(|p| p.session.usage.as_deref()))
        .bind(column!(|p| Usage::read(p.session.usage.as_deref()).cost_micros()))
        .bind(column!(|p| p.session.head_sequence.cast_signed()))
        .bind(column!(|p| &p.session.head_digest.0[..]))
        .bind(column!(|p| to_micros(p.session.updated_at)))
        .bind(column!(|p| p.session.completed_at().map(to_micros)))
        .bind(column!(|p| p.is_captured));
    let query = bind_rows(query, rows);
    let row = spanned!(COMPLETE_POSTGRES, fetch_one, query.fetch_one(connection).await)?;
    Ok(row.try_get::<Vec<Uuid>, _>(0)?.into_iter().collect())
}

/// The sessions that were written, with their notices.
fn announced(
    planned: BTreeMap<SessionId, Planned>,
    rows: Vec<NewRow>,
    written: &HashSet<Uuid>,
) -> HashMap<SessionId, (Session, Notice)> {
    let mut events: HashMap<SessionId, Vec<Event>> = HashMap::new();
    for NewRow { record, .. } in rows {
        events.entry(record.session_id).or_default().push(record);
    }
    let notice = |(id, Planned { session, .. }): (SessionId, Planned)| {
        let events = events.remove(&id).unwrap_or_default();
        let notice = Notice::of_change(&session, events);
        (id, (session, notice))
    };
    planned.into_iter().filter(|(id, _)| written.contains(&id.0)).map(notice).collect()
}
