//! Rows of `erasures`, and the erasure of the content of old sessions from every table.

use crate::{
    canvas,
    engine::{Conn, Error, Result, record, run, statements},
    failure, interaction, search, share_link, tool_run_output,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    gate::{GateKind, Task},
    id::{SessionId, TenantId},
    session::{Session, State},
    thread::is_incognito,
};
use uuid::Uuid;

/// Replaces an erased text. The trigger of `view_versions` has it too.
pub const ERASED: &str = "(erased)";
/// Metadata of an incognito session after erasure.
const INCOGNITO_ALONE: &str = r#"{"incognito":true}"#;

// Erases the views that were made for the questions of a session. No other session asks with them. The trigger of
// `view_versions` permits this change and no other.
macro_rules! erase_forms {
    (sqlite, $table:literal, $id:literal) => {
        erase_forms!(
            $table,
            $id,
            "(SELECT json_group_array(json_replace(\
             json_remove(f.value, '$.help', '$.default', '$.showIf', '$.lowLabel', '$.highLabel'), \
             '$.label', '(erased)', '$.options', json('[]'))) FROM json_each(fields) f)"
        )
    };
    (postgres, $table:literal, $id:literal) => {
        erase_forms!($table, $id, "shiftbook_erased_fields(fields)")
    };
    ($table:literal, $id:literal, $fields:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET title = $3, introduction = '', fields = ",
            $fields,
            " WHERE tenant_id = $1 AND ",
            $id,
            " IN (SELECT r.view_id FROM feedback_requests r \
             JOIN views v ON v.tenant_id = r.tenant_id AND v.id = r.view_id \
             WHERE r.tenant_id = $1 AND r.session_id = $2 AND v.listed = 0)"
        )
    };
}

statements! {
    // The last change of a final session is its end.
    const DUE: &str = "SELECT s.tenant_id, s.id, s.head_sequence, s.head_digest FROM sessions s \
         WHERE s.status IN ('completed', 'failed', 'abandoned', 'expired') AND COALESCE(s.completed_at, s.updated_at) < $1 \
         AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = s.tenant_id AND e.session_id = s.id AND e.finished_at IS NOT NULL) \
         AND (s.tenant_id, s.id) > ($2, $3) ORDER BY s.tenant_id, s.id LIMIT $4";
    const INSERT: &str = "INSERT INTO erasures (tenant_id, session_id, head_sequence, head_digest, older_than, begun_at, seal, row_digest, events_digest) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (tenant_id, session_id) DO NOTHING";
    // An erasure that an earlier version began keeps the ids of events in the systems they came from.
    const ERASE_EVENTS: &str = "UPDATE session_events SET content = '[]', metadata = '{}', \
         external_event_id = CASE WHEN EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = $1 AND e.session_id = $2 \
             AND e.events_digest IS NOT NULL) THEN NULL ELSE external_event_id END \
         WHERE tenant_id = $1 AND session_id = $2 AND sequence > $3 AND sequence <= $4";
    const ERASE_SESSION: &str = "UPDATE sessions SET title = $3, input = NULL, result = NULL, error_message = NULL, metadata = $4, channel = NULL, \
         tags = NULL, assignee = NULL \
         WHERE tenant_id = $1 AND id = $2";
    const ERASE_RESULT: &str = "DELETE FROM session_results WHERE tenant_id = $1 AND session_id = $2";
    const ERASE_GATES: &str = "UPDATE gates SET title = $3, criteria = NULL, flags = '[]', similar_key = '', task = CASE kind \
         WHEN 'tool' THEN $4 WHEN 'output' THEN $5 WHEN 'fields' THEN $6 WHEN 'memory' THEN $8 ELSE $7 END WHERE tenant_id = $1 AND session_id = $2";
    const ERASE_DECISIONS: &str = "UPDATE gate_decisions SET value = NULL, note = NULL WHERE tenant_id = $1 AND gate_id IN \
         (SELECT g.id FROM gates g WHERE g.tenant_id = $1 AND g.session_id = $2)";
    const ERASE_REQUESTS: &str = "UPDATE feedback_requests SET message = $3 WHERE tenant_id = $1 AND session_id = $2";
    const ERASE_ANSWERS: &str = "UPDATE request_answers SET answers = NULL, note = NULL, respondent_label = NULL \
         WHERE tenant_id = $1 AND session_id = $2";
    // An answer that the agent has not taken yet stays until the session that asks is erased.
    const ERASE_ANSWER_OF_RESPONSE: &str = "UPDATE request_answers SET respondent_label = NULL, \
         answers = CASE WHEN consumed_at IS NOT NULL OR late = $3 THEN NULL ELSE answers END, \
         note = CASE WHEN consumed_at IS NOT NULL OR late = $3 THEN NULL ELSE note END \
         WHERE tenant_id = $1 AND response_session_id = $2";
    const ERASE_FORMS_SQLITE: &str = erase_forms!(sqlite, "views", "id");
    const ERASE_FORMS_POSTGRES: &str = erase_forms!(postgres, "views", "id");
    const ERASE_FORM_VERSIONS_SQLITE: &str = erase_forms!(sqlite, "view_versions", "view_id");
    const ERASE_FORM_VERSIONS_POSTGRES: &str = erase_forms!(postgres, "view_versions", "view_id");
    const ERASE_FAILURES: &str = "UPDATE session_failures SET message = $3 WHERE tenant_id = $1 AND session_id = $2";
    const ERASE_RESPONSE: &str =
        "UPDATE responses SET answers = '{}', scores = NULL WHERE tenant_id = $1 AND session_id = $2";
    const SAVE_FINISHED: &str =
        "UPDATE erasures SET finished_at = $3 WHERE tenant_id = $1 AND session_id = $2 AND finished_at IS NULL";
    const BY_SESSION: &str = "SELECT head_sequence, head_digest, older_than, begun_at, seal, finished_at, row_digest, events_digest FROM erasures \
         WHERE tenant_id = $1 AND session_id = $2";
    const ERASURE_STATE: &str = "SELECT (SELECT COUNT(*) FROM sessions WHERE tenant_id = $1 AND id = $2), \
         (SELECT COUNT(*) FROM erasures WHERE tenant_id = $1 AND session_id = $2) \
         + (SELECT COUNT(*) FROM captures_forgotten WHERE tenant_id = $1 AND session_id = $2)";
    const OF_AGENT: &str = "SELECT COUNT(*) AS sessions, CAST(COALESCE(SUM(e.head_sequence), 0) AS bigint) AS events, \
         MAX(e.older_than) AS older_than, MAX(e.begun_at) AS begun_at FROM (SELECT e.head_sequence, e.older_than, e.begun_at \
             FROM sessions s JOIN erasures e ON e.tenant_id = s.tenant_id AND e.session_id = s.id \
             WHERE s.tenant_id = $1 AND s.agent_slug = $2 AND s.private_to IS NULL AND e.finished_at IS NOT NULL \
             ORDER BY s.id DESC LIMIT $3) e";
}

/// What retention erased of an agent's sessions. Incognito sessions are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasedOfAgent {
    /// Sessions, at most as many as were asked for.
    pub sessions: u64,
    /// Events of those sessions.
    pub events: u64,
    /// Sessions that ended before this were due, at the last run that erased some of them (UTC).
    pub older_than: Option<Timestamp>,
    /// Time at which the newest erasure began (UTC).
    pub at: Option<Timestamp>,
}

record! {
    struct ErasedRow of "erasures" {
        sessions: u64,
        events: u64,
        older_than: Option<Timestamp>,
        begun_at: Option<Timestamp>,
    }
}

/// Counts what retention erased of an agent's sessions, of the newest at most `limit`.
pub async fn of_agent(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, limit: u32) -> Result<ErasedOfAgent> {
    let row = run!(conn, fetch_one ErasedRow, OF_AGENT, tenant_id.0, agent, i64::from(limit))?;
    Ok(ErasedOfAgent { sessions: row.sessions, events: row.events, older_than: row.older_than, at: row.begun_at })
}

/// A session whose content is due for erasure.
#[derive(Debug, Clone, Copy)]
pub struct ErasureCandidate {
    /// Workspace of the session.
    pub tenant_id: TenantId,
    /// Session whose content is erased.
    pub session_id: SessionId,
    /// Newest sequence of the session.
    pub head_sequence: u64,
    /// Digest of its newest event.
    pub head_digest: Digest,
}

record! {
    /// The erasure of a session's content.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ErasureRecord of "erasures" {
        /// Events 1 to this sequence have no content.
        pub head_sequence: u64,
        /// Digest of the newest erased event.
        pub head_digest: Digest,
        /// Sessions that ended before this time were due (UTC).
        pub older_than: Timestamp,
        /// Time the erasure began (UTC).
        pub begun_at: Timestamp,
        /// MAC over all fields above. It proves that the retention of this installation erased the content.
        pub seal: Digest,
        /// The digest of the session's row without its content; `None` for an erasure of an earlier version.
        pub row_digest: Option<Digest>,
        /// The digest of the events without their content and their ids in other systems; `None` for an erasure of an
        /// earlier version, which kept those ids.
        pub events_digest: Option<Digest>,
        /// Time the erasure finished (UTC); `None` while it is under way.
        pub finished_at: Option<Timestamp>,
    }
}

/// Final sessions of every workspace that ended before `older_than` and still have their content, in key order after
/// `after`.
pub async fn due(
    conn: &mut Conn<'_>,
    older_than: Timestamp,
    after: Option<(TenantId, SessionId)>,
    limit: u32,
) -> Result<Vec<ErasureCandidate>> {
    type DueRow = (Uuid, Uuid, i64, Vec<u8>);
    let (tenant, session) = after.map(|(tenant, session)| (tenant.0, session.0)).unwrap_or_default();
    let rows = run!(conn, fetch_all DueRow, DUE, to_micros(older_than), tenant, session, i64::from(limit))?;
    let due = rows.into_iter().map(|(tenant, id, head, digest)| {
        let head_digest = Digest::from_slice(&digest);
        Ok(ErasureCandidate {
            tenant_id: TenantId(tenant),
            session_id: SessionId(id),
            head_sequence: head.cast_unsigned(),
            head_digest: head_digest.ok_or_else(|| Error::inconsistent("sessions", "head_digest", digest.len()))?,
        })
    });
    due.collect()
}

/// Records that an erasure begins. An erasure that has begun already is left unchanged. Nothing of the session comes
/// into the search any more, and links to the session stop working.
pub async fn begin(tx: &mut WriteTx<'_>, due: &ErasureCandidate, erasure: &ErasureRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        due.tenant_id.0,
        due.session_id.0,
        erasure.head_sequence.cast_signed(),
        erasure.head_digest.0.to_vec(),
        to_micros(erasure.older_than),
        to_micros(erasure.begun_at),
        erasure.seal.0.to_vec(),
        erasure.row_digest.map(|digest| digest.0.to_vec()),
        erasure.events_digest.map(|digest| digest.0.to_vec()),
    )?;
    share_link::revoke_of_session(tx, (due.tenant_id, due.session_id), erasure.begun_at).await?;
    search::close(tx, due.tenant_id, due.session_id).await
}

/// Erases the content of the events after `after` up to `to`, their ids in the systems they came from, and their words
/// in the search. Returns how many events that were.
pub async fn erase_events(tx: &mut WriteTx<'_>, due: &ErasureCandidate, after: u64, to: u64) -> Result<u64> {
    search::forget(tx, (due.tenant_id, due.session_id), (after, to)).await?;
    let (tenant, session) = (due.tenant_id.0, due.session_id.0);
    Ok(run!(tx.conn(), execute, ERASE_EVENTS, tenant, session, after.cast_signed(), to.cast_signed())?)
}

/// The session without its content. [`finish`] writes the row in the same way.
pub fn without_content(mut session: Session) -> Session {
    session.title = ERASED.to_owned();
    session.input = None;
    if let State::Ended(ended) = &mut session.state {
        ended.result = None;
        ended.result_left_out = false;
        ended.error_message = None;
    }
    // The mark of an incognito session is kept, so that a later rating still names no one.
    session.metadata = if is_incognito(&session.metadata) { INCOGNITO_ALONE } else { "{}" }.to_owned();
    session.tags.clear();
    session.assignee = None;
    session
}

/// Erases the content of everything else that belongs to the session, and records that the erasure is
/// finished. `erased` is the session without its content.
pub async fn finish(tx: &mut WriteTx<'_>, due: &ErasureCandidate, erased: &Session, at: Timestamp) -> Result<()> {
    let (tenant, session) = (due.tenant_id.0, due.session_id.0);
    let task = |kind| Task::erased(kind, ERASED).to_json().to_string();
    let (tool, output) = (task(GateKind::Tool), task(GateKind::Output));
    let (fields, question) = (task(GateKind::Fields), task(GateKind::Question));
    let memory = task(GateKind::Memory);
    let (title, metadata) = (erased.title.as_str(), erased.metadata.as_str());
    run!(tx.conn(), execute, ERASE_SESSION, tenant, session, title, metadata)?;
    run!(tx.conn(), execute, ERASE_RESULT, tenant, session)?;
    run!(tx.conn(), execute, ERASE_DECISIONS, tenant, session)?;
    run!(tx.conn(), execute, ERASE_GATES, tenant, session, ERASED, tool, output, fields, question, memory)?;
    run!(tx.conn(), execute, ERASE_REQUESTS, tenant, session, ERASED)?;
    run!(tx.conn(), execute, ERASE_ANSWERS, tenant, session)?;
    let erase_forms = if matches!(tx.conn(), Conn::Sqlite(_)) {
        [ERASE_FORMS_SQLITE, ERASE_FORM_VERSIONS_SQLITE]
    } else {
        [ERASE_FORMS_POSTGRES, ERASE_FORM_VERSIONS_POSTGRES]
    };
    for sql in erase_forms {
        run!(tx.conn(), execute, sql, tenant, session, ERASED)?;
    }
    run!(tx.conn(), execute, ERASE_FAILURES, tenant, session, ERASED)?;
    failure::cause::forget(tx, due.tenant_id, due.session_id).await?;
    run!(tx.conn(), execute, ERASE_RESPONSE, tenant, session)?;
    run!(tx.conn(), execute, ERASE_ANSWER_OF_RESPONSE, tenant, session, true)?;
    canvas::erase(tx, due.tenant_id, due.session_id).await?;
    tool_run_output::erase(tx, due.tenant_id, due.session_id).await?;
    interaction::mark_due::forget(tx, due.tenant_id, due.session_id).await?;
    interaction::forget(tx, due.tenant_id, due.session_id).await?;
    run!(tx.conn(), execute, SAVE_FINISHED, tenant, session, to_micros(at))?;
    Ok(())
}

/// The erasure of a session.
pub async fn of_session(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
) -> Result<Option<ErasureRecord>> {
    Ok(run!(conn, fetch_optional ErasureRecord, BY_SESSION, tenant_id.0, session_id.0)?)
}

/// Whether the ledger still has the content of a session and training data may. Copies elsewhere follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureState {
    /// The content is stored.
    Kept,
    /// The content is erased, its erasure has begun, or its training data is forgotten.
    Erased,
    /// There is no such session.
    Unknown,
}

/// The state of a session's content.
pub async fn erasure_state(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<ErasureState> {
    type Counts = (i64, i64);
    Ok(match run!(conn, fetch_one Counts, ERASURE_STATE, tenant_id.0, session_id.0)? {
        (_, erasures) if erasures > 0 => ErasureState::Erased,
        (0, _) => ErasureState::Unknown,
        _ => ErasureState::Kept,
    })
}
