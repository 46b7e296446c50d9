//! Sessions that wait for others: rows of `session_dependencies`, children, and endings that are still to
//! be followed up.

use super::{Row, session_select};
use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
    session::{EndReason, IfDependencyFails, Session, Status},
};
use uuid::Uuid;

macro_rules! unfinished {
    ($of:literal) => {
        concat!($of, ".status NOT IN ('completed', 'failed', 'abandoned', 'expired')")
    };
}
// Returns outputs in order until their sizes add up to $4. The rows are limited first, so that only they are summed. An
// empty text means a result in `session_results`, which is larger than all outputs together may be.
macro_rules! related_select {
    ($from:literal) => {
        concat!(
            "SELECT s.id, s.action_slug, s.agent_slug, s.title, s.status, s.end_reason, s.error_code, s.error_message, \
             CASE WHEN SUM(COALESCE(octet_length(s.result), 0)) OVER (ORDER BY s.position) <= $4 THEN NULLIF(s.result, '') END AS output, \
             CAST(CASE WHEN s.result IS NULL THEN 0 ELSE 1 END AS bigint) AS has_output FROM (",
            $from,
            ") s ORDER BY s.position"
        )
    };
}
macro_rules! neighbour_select {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.action_slug, s.agent_slug, s.title, s.status, s.end_reason, d.if_fails FROM session_dependencies d \
             JOIN sessions s ON s.tenant_id = d.tenant_id AND s.id = ",
            $rest
        )
    };
}

statements! {
    const LOCK_POSTGRES: &str =
        session_select!(whole "tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE");
    // Held until the transaction ends. The seed 4004 identifies this kind of lock.
    const LOCK_WORKSPACE_GRAPH_POSTGRES: &str =
        "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended(CAST($1 AS text), 4004))";
    const INSERT: &str = "INSERT INTO session_dependencies (tenant_id, session_id, position, depends_on_id, if_fails) \
         VALUES ($1, $2, $3, $4, $5)";
    const MARK_AWAITED: &str = "UPDATE sessions SET awaited = 1 WHERE tenant_id = $1 AND id = $2 AND awaited = 0";
    const DEPENDENTS_COUNT: &str =
        "SELECT COUNT(*) FROM session_dependencies WHERE tenant_id = $1 AND depends_on_id = $2";
    const DEPENDENCIES: &str =
        neighbour_select!("d.depends_on_id WHERE d.tenant_id = $1 AND d.session_id = $2 ORDER BY d.position");
    const DEPENDENTS: &str =
        neighbour_select!("d.session_id WHERE d.tenant_id = $1 AND d.depends_on_id = $2 ORDER BY d.session_id LIMIT $3");
    const DEPENDENTS_WAITING: &str = "SELECT d.session_id FROM session_dependencies d \
         JOIN sessions s ON s.tenant_id = d.tenant_id AND s.id = d.session_id \
         WHERE d.tenant_id = $1 AND d.depends_on_id = $2 AND s.status = 'draft' ORDER BY d.session_id";
    const CHILDREN_UNFINISHED: &str = concat!(
        "SELECT s.id FROM sessions s WHERE s.tenant_id = $1 AND s.parent_id = $2 AND ",
        unfinished!("s"),
        " ORDER BY s.id LIMIT $3"
    );
    const DEPENDENCIES_UNFINISHED: &str = concat!(
        "SELECT s.id FROM session_dependencies d JOIN sessions s ON s.tenant_id = d.tenant_id AND s.id = d.depends_on_id \
         WHERE d.tenant_id = $1 AND d.session_id = $2 AND ",
        unfinished!("s"),
        " ORDER BY s.id LIMIT $3"
    );
    const ANY_CHILD: &str = "SELECT id FROM sessions WHERE tenant_id = $1 AND parent_id = $2 ORDER BY id LIMIT 1";
    const NEWEST_RETRY: &str =
        "SELECT id FROM sessions WHERE tenant_id = $1 AND retry_of = $2 ORDER BY id DESC LIMIT 1";
    // Only if something follows: a dependent, an unfinished parent, children that end with it, or a task that writes
    // its result.
    const INSERT_ENDING: &str = concat!(
        "INSERT INTO session_endings (tenant_id, session_id, at) SELECT s.tenant_id, s.id, CAST($3 AS bigint) FROM sessions s \
         WHERE s.tenant_id = $1 AND s.id = $2 AND (s.awaited = 1 OR EXISTS (SELECT 1 FROM sessions p \
         WHERE p.tenant_id = s.tenant_id AND p.id = s.parent_id AND ",
        unfinished!("p"),
        ") OR (CAST($4 AS bigint) = 1 AND EXISTS (SELECT 1 FROM sessions c WHERE c.tenant_id = s.tenant_id AND c.parent_id = s.id AND ",
        unfinished!("c"),
        ")) OR EXISTS (SELECT 1 FROM tool_run_outputs o WHERE o.tenant_id = s.tenant_id AND o.session_id = s.id \
         AND o.written_session_id IS NULL AND o.refused IS NULL))"
    );
    const ENDING_BY_SESSION: &str = "SELECT session_id FROM session_endings WHERE tenant_id = $1 AND session_id = $2";
    const ENDINGS: &str =
        "SELECT tenant_id, session_id FROM session_endings WHERE session_id > $1 ORDER BY session_id LIMIT $2";
    const DELETE_ENDING: &str = "DELETE FROM session_endings WHERE tenant_id = $1 AND session_id = $2";
    const RELATED_DEPENDENCIES: &str = related_select!(
        "SELECT t.id, t.action_slug, t.agent_slug, t.title, t.status, t.end_reason, t.error_code, t.error_message, t.result, \
         d.position FROM session_dependencies d JOIN sessions t ON t.tenant_id = d.tenant_id AND t.id = d.depends_on_id \
         WHERE d.tenant_id = $1 AND d.session_id = $2 ORDER BY d.position LIMIT $3"
    );
    const RELATED_CHILDREN: &str = related_select!(
        "SELECT t.id, t.action_slug, t.agent_slug, t.title, t.status, t.end_reason, t.error_code, t.error_message, t.result, \
         t.id AS position FROM sessions t WHERE t.tenant_id = $1 AND t.parent_id = $2 ORDER BY t.id LIMIT $3"
    );
}

type Id = (Uuid,);
type Count = (i64,);

fn ids(rows: Vec<Id>) -> Vec<SessionId> {
    rows.into_iter().map(|(id,)| SessionId(id)).collect()
}

record! {
    /// A session that another one depends on, or that depends on another one, in brief.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Neighbour of "sessions" {
        /// Id of the session.
        pub id: SessionId,
        /// Its action's slug.
        pub action_slug: Option<String>,
        /// Agent that is to run it; `None` if no agent is named.
        pub agent_slug: Option<String>,
        /// Title shown to people.
        pub title: String,
        /// Current status.
        pub status: Status,
        /// Why it ended, if it has ended.
        pub end_reason: Option<EndReason>,
        /// What happens to the dependent session if the other one fails.
        pub if_fails: IfDependencyFails,
    }
}

/// A dependency or a child of a session, with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedSession {
    /// Id of the session.
    pub id: SessionId,
    /// Its action's slug.
    pub action_slug: Option<String>,
    /// Agent that is to run it; `None` if no agent is named.
    pub agent_slug: Option<String>,
    /// Title shown to people.
    pub title: String,
    /// Current status.
    pub status: Status,
    /// Why it ended, if it has ended.
    pub end_reason: Option<EndReason>,
    /// Machine-readable error code, if it failed.
    pub error_code: Option<String>,
    /// Error text for people, if it failed.
    pub error_message: Option<String>,
    /// Its result as JSON, if it has one and the byte limit allows it.
    pub output: Option<String>,
    /// Whether its result was left out because of the byte limit.
    pub output_left_out: bool,
}

record! {
    struct RelatedRow of "sessions" {
        id: SessionId,
        action_slug: Option<String>,
        agent_slug: Option<String>,
        title: String,
        status: Status,
        end_reason: Option<EndReason>,
        error_code: Option<String>,
        error_message: Option<String>,
        output: Option<String>,
        has_output: i64,
    }
}

impl From<RelatedRow> for RelatedSession {
    fn from(row: RelatedRow) -> Self {
        Self {
            id: row.id,
            action_slug: row.action_slug,
            agent_slug: row.agent_slug,
            title: row.title,
            status: row.status,
            end_reason: row.end_reason,
            error_code: row.error_code,
            error_message: row.error_message,
            output_left_out: row.has_output == 1 && row.output.is_none(),
            output: row.output,
        }
    }
}

/// These sessions in id order. On PostgreSQL they are locked in that order, so that transactions that lock
/// several sessions cannot deadlock. Ids that do not exist in the workspace are left out.
pub async fn lock_many(tx: &mut WriteTx<'_>, tenant_id: TenantId, wanted: &[SessionId]) -> Result<Vec<Session>> {
    if let Conn::Postgres(c) = tx.conn() {
        let wanted: Vec<Uuid> = wanted.iter().map(|id| id.0).collect();
        let rows = sqlx::query_as::<_, Row>(LOCK_POSTGRES).bind(tenant_id.0).bind(wanted).fetch_all(&mut **c).await?;
        return rows.into_iter().map(Session::try_from).collect();
    }
    let mut found = super::find_many(tx.conn(), tenant_id, wanted).await?;
    found.sort_by_key(|session| session.id);
    Ok(found)
}

/// Locks the graph of a workspace until the transaction ends, and waits while another transaction holds the
/// lock. SQLite has one writer and needs no lock.
pub async fn lock_workspace_graph(tx: &mut WriteTx<'_>, tenant_id: TenantId) -> Result<()> {
    if let Conn::Postgres(c) = tx.conn() {
        sqlx::query(LOCK_WORKSPACE_GRAPH_POSTGRES).bind(tenant_id.0).execute(&mut **c).await?;
    }
    Ok(())
}

/// Records the dependencies of a new session in this order.
pub async fn insert_dependencies(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    dependencies: &[(SessionId, IfDependencyFails)],
) -> Result<()> {
    for (position, (on, if_fails)) in (0_i64..).zip(dependencies) {
        let if_fails = if_fails.as_str();
        run!(tx.conn(), execute, INSERT, tenant_id.0, session_id.0, position, on.0, if_fails)?;
    }
    Ok(())
}

/// Records on a locked session that others depend on it.
pub async fn mark_awaited(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, MARK_AWAITED, tenant_id.0, id.0)?;
    Ok(())
}

/// How many sessions depend on this one.
pub async fn dependents_count(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<u64> {
    let (count,) = run!(conn, fetch_one Count, DEPENDENTS_COUNT, tenant_id.0, id.0)?;
    Ok(count.cast_unsigned())
}

/// The dependencies of a session, in the order in which they were given.
pub async fn dependencies(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Vec<Neighbour>> {
    Ok(run!(conn, fetch_all Neighbour, DEPENDENCIES, tenant_id.0, id.0)?)
}

/// The sessions that depend on a session, oldest first.
pub async fn dependents(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId, limit: u32) -> Result<Vec<Neighbour>> {
    Ok(run!(conn, fetch_all Neighbour, DEPENDENTS, tenant_id.0, id.0, i64::from(limit))?)
}

/// Drafts that depend on a session.
pub async fn dependents_waiting(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Vec<SessionId>> {
    Ok(ids(run!(conn, fetch_all Id, DEPENDENTS_WAITING, tenant_id.0, id.0)?))
}

/// Children of a session that have not ended, oldest first.
pub async fn children_unfinished(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: SessionId,
    limit: usize,
) -> Result<Vec<SessionId>> {
    Ok(ids(run!(conn, fetch_all Id, CHILDREN_UNFINISHED, tenant_id.0, id.0, limit as i64)?))
}

/// Dependencies and children of a session that have not ended; at most `limit` of each.
pub async fn list_awaited(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: SessionId,
    limit: usize,
) -> Result<Vec<SessionId>> {
    let mut found = ids(run!(conn, fetch_all Id, DEPENDENCIES_UNFINISHED, tenant_id.0, id.0, limit as i64)?);
    found.extend(children_unfinished(conn, tenant_id, id, limit).await?);
    Ok(found)
}

/// Whether a session has started any other.
pub async fn has_children(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<bool> {
    Ok(run!(conn, fetch_optional Id, ANY_CHILD, tenant_id.0, id.0)?.is_some())
}

/// The newest retry of a session.
pub async fn newest_retry(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<SessionId>> {
    Ok(run!(conn, fetch_optional Id, NEWEST_RETRY, tenant_id.0, id.0)?.map(|(id,)| SessionId(id)))
}

/// Records that a session has ended in this transaction, if another session may wait for that. The caller
/// follows the ending up after the commit (`Committed::endings`); otherwise a sweep does.
pub async fn note_ending(tx: &mut WriteTx<'_>, ended: &Session, ends_children: bool, at: Timestamp) -> Result<()> {
    let (tenant_id, id, ends_children) = (ended.tenant_id, ended.id, i64::from(ends_children));
    if run!(tx.conn(), execute, INSERT_ENDING, tenant_id.0, id.0, to_micros(at), ends_children)? == 1 {
        tx.ended(tenant_id, id);
    }
    Ok(())
}

/// Whether an ending is still to be followed up.
pub async fn is_noted(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<bool> {
    Ok(run!(conn, fetch_optional Id, ENDING_BY_SESSION, tenant_id.0, id.0)?.is_some())
}

/// Endings of every workspace that are still to be followed up, in id order after this one.
pub async fn endings(conn: &mut Conn<'_>, after: Option<SessionId>, limit: u32) -> Result<Vec<(TenantId, SessionId)>> {
    let after = after.map_or(Uuid::nil(), |id| id.0);
    let rows = run!(conn, fetch_all(Uuid, Uuid), ENDINGS, after, i64::from(limit))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), SessionId(id))).collect())
}

/// Removes an ending that has been followed up.
pub async fn delete_ending(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_ENDING, tenant_id.0, id.0)?;
    Ok(())
}

/// Results of the sessions that this one depends on. Outputs are included while they fit into `bytes`.
pub async fn related_dependencies(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: SessionId,
    limit: u32,
    bytes: usize,
) -> Result<Vec<RelatedSession>> {
    let (limit, bytes) = (i64::from(limit), bytes as i64);
    let rows = run!(conn, fetch_all RelatedRow, RELATED_DEPENDENCIES, tenant_id.0, id.0, limit, bytes)?;
    Ok(rows.into_iter().map(RelatedSession::from).collect())
}

/// Results of the sessions that this one started, oldest first. Outputs are included while they fit into
/// `bytes`.
pub async fn related_children(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: SessionId,
    limit: u32,
    bytes: usize,
) -> Result<Vec<RelatedSession>> {
    let (limit, bytes) = (i64::from(limit), bytes as i64);
    let rows = run!(conn, fetch_all RelatedRow, RELATED_CHILDREN, tenant_id.0, id.0, limit, bytes)?;
    Ok(rows.into_iter().map(RelatedSession::from).collect())
}
