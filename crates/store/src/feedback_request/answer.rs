//! Rows of `request_answers`. A row is written once; the claim that takes it stamps it.

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    feedback_request::{Outcome, Respondent, RespondentKind},
    id::{FeedbackRequestId, GateId, RequestAnswerId, SessionId, TenantId, UserId, ViewId},
};
use uuid::Uuid;

macro_rules! answer_select {
    ($rest:literal) => {
        concat!(
            "SELECT a.id, a.request_id, a.session_id, a.response_session_id, a.respondent_kind, a.respondent, \
             a.respondent_user, COALESCE(a.respondent_label, u.email) AS label, a.outcome, a.answers, a.note, a.digest, a.late, \
             a.deposited_at, a.consumed_at, a.consumed_attempt, r.message, r.blocking, r.view_id, r.version \
             FROM request_answers a JOIN feedback_requests r ON r.tenant_id = a.tenant_id AND r.id = a.request_id \
             LEFT JOIN users u ON u.id = a.respondent_user WHERE a.tenant_id = $1 AND ",
            $rest
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO request_answers (tenant_id, id, request_id, session_id, response_session_id, \
         respondent_kind, respondent, respondent_user, respondent_label, outcome, answers, note, digest, late, deposited_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    const OWN: &str = answer_select!("a.request_id = $2 AND a.respondent = $3");
    const OF_REQUEST: &str = answer_select!("a.request_id = $2 AND NOT a.late ORDER BY a.deposited_at, a.id LIMIT 1");
    const OF_GATE: &str = answer_select!("r.gate_id = $2 AND NOT a.late ORDER BY a.deposited_at, a.id LIMIT 1");
    const COUNT: &str = "SELECT COUNT(*) FROM request_answers WHERE tenant_id = $1 AND request_id = $2";
    const UNCONSUMED: &str =
        answer_select!("a.session_id = $2 AND a.consumed_at IS NULL AND NOT a.late ORDER BY a.deposited_at, a.id LIMIT $3");
    const CONSUME: &str = "UPDATE request_answers SET consumed_at = $3, consumed_attempt = $4, consumed_by_call = $5 \
         WHERE tenant_id = $1 AND id = $2 AND consumed_at IS NULL";
    const OF_CALL: &str = answer_select!(
        "a.session_id = $2 AND a.consumed_attempt = $3 AND a.consumed_by_call = $4 ORDER BY a.deposited_at, a.id LIMIT $5"
    );
    // The two sessions are the same if nobody started the session.
    const OF_SESSIONS: &str = answer_select!(
        "a.session_id IN ($2, $3) AND (a.deposited_at > $4 OR (a.deposited_at = $4 AND a.id > $5)) \
         ORDER BY a.deposited_at, a.id LIMIT $6"
    );
    const UNCONSUMED_OF_SESSIONS: &str = answer_select!(
        "a.session_id IN ($2, $3) AND a.consumed_at IS NULL AND NOT a.late \
         AND (a.deposited_at > $4 OR (a.deposited_at = $4 AND a.id > $5)) ORDER BY a.deposited_at, a.id LIMIT $6"
    );
}

/// An answer to a request, with what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerRecord {
    /// Identifies the answer.
    pub id: RequestAnswerId,
    /// Request that it answers.
    pub request_id: FeedbackRequestId,
    /// Session that asked.
    pub session_id: SessionId,
    /// Response session in which it was given; `None` if it was given elsewhere.
    pub response_session_id: Option<SessionId>,
    /// Person or program that answered; the server if no one did.
    pub respondent: Respondent,
    /// How it ended the request.
    pub outcome: Outcome,
    /// JSON: the answers by key of the field. `None` without an answer, and after erasure.
    pub answers: Option<String>,
    /// The respondent's note.
    pub note: Option<String>,
    /// Digest of the answers.
    pub digest: Digest,
    /// Whether it came when the request was closed. It never reaches the agent.
    pub late: bool,
    /// Time of the answer (UTC).
    pub deposited_at: Timestamp,
    /// Time of the claim that took it (UTC).
    pub consumed_at: Option<Timestamp>,
    /// Attempt of the session that took it.
    pub consumed_attempt: Option<u32>,
    /// What the agent asked.
    pub message: String,
    /// Whether the session waited for it.
    pub blocking: bool,
    /// View with the form.
    pub view_id: ViewId,
    /// Version of the view that was answered.
    pub version: u64,
}

record! {
    struct Row of "request_answers" {
        id: RequestAnswerId,
        request_id: FeedbackRequestId,
        session_id: SessionId,
        response_session_id: Option<SessionId>,
        respondent_kind: RespondentKind,
        respondent: String,
        respondent_user: Option<UserId>,
        label: Option<String>,
        outcome: Outcome,
        answers: Option<String>,
        note: Option<String>,
        digest: Digest,
        late: bool,
        deposited_at: Timestamp,
        consumed_at: Option<Timestamp>,
        consumed_attempt: Option<u32>,
        message: String,
        blocking: bool,
        view_id: ViewId,
        version: u64,
    }
}

impl From<Row> for AnswerRecord {
    fn from(row: Row) -> Self {
        let respondent = Respondent {
            kind: row.respondent_kind,
            key: row.respondent,
            user_id: row.respondent_user,
            label: row.label,
        };
        Self {
            id: row.id,
            request_id: row.request_id,
            session_id: row.session_id,
            response_session_id: row.response_session_id,
            respondent,
            outcome: row.outcome,
            answers: row.answers,
            note: row.note,
            digest: row.digest,
            late: row.late,
            deposited_at: row.deposited_at,
            consumed_at: row.consumed_at,
            consumed_attempt: row.consumed_attempt,
            message: row.message,
            blocking: row.blocking,
            view_id: row.view_id,
            version: row.version,
        }
    }
}

/// Adds an answer. Its request must be locked and must have none of this respondent.
pub async fn insert_answer(tx: &mut WriteTx<'_>, tenant_id: TenantId, answer: &AnswerRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        answer.id.0,
        answer.request_id.0,
        answer.session_id.0,
        answer.response_session_id.map(|id| id.0),
        answer.respondent.kind.as_str(),
        answer.respondent.key.as_str(),
        answer.respondent.user_id.map(|id| id.0),
        answer.respondent.label.as_deref(),
        answer.outcome.as_str(),
        answer.answers.as_deref(),
        answer.note.as_deref(),
        &answer.digest.0[..],
        answer.late,
        to_micros(answer.deposited_at),
    )?;
    Ok(())
}

/// The answer of one respondent to a request.
pub async fn own_answer(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    request_id: FeedbackRequestId,
    respondent: &str,
) -> Result<Option<AnswerRecord>> {
    Ok(run!(conn, fetch_optional Row, OWN, tenant_id.0, request_id.0, respondent)?.map(Into::into))
}

/// The first answer to a request that was in time.
pub async fn answer_of_request(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    request_id: FeedbackRequestId,
) -> Result<Option<AnswerRecord>> {
    Ok(run!(conn, fetch_optional Row, OF_REQUEST, tenant_id.0, request_id.0)?.map(Into::into))
}

/// The answer in time to the request that opened a gate.
pub async fn answer_of_gate(conn: &mut Conn<'_>, tenant_id: TenantId, gate_id: GateId) -> Result<Option<AnswerRecord>> {
    Ok(run!(conn, fetch_optional Row, OF_GATE, tenant_id.0, gate_id.0)?.map(Into::into))
}

/// How many answers a request has, late ones included.
pub async fn count_answers(conn: &mut Conn<'_>, tenant_id: TenantId, request_id: FeedbackRequestId) -> Result<u64> {
    type Count = (i64,);
    let (count,) = run!(conn, fetch_one Count, COUNT, tenant_id.0, request_id.0)?;
    Ok(count.cast_unsigned())
}

/// Answers of a session in time that no claim has taken, oldest first. The session must be
/// locked.
pub async fn unconsumed(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    limit: u32,
) -> Result<Vec<AnswerRecord>> {
    let rows = run!(conn, fetch_all Row, UNCONSUMED, tenant_id.0, session_id.0, i64::from(limit))?;
    Ok(rows.into_iter().map(AnswerRecord::from).collect())
}

/// Stamps an answer that an attempt took, with a claim or with the call that has the idempotency key `call`. One that
/// is stamped stays as it is.
pub async fn consume(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: RequestAnswerId,
    (attempt, call): (u32, Option<&str>),
    at: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, CONSUME, tenant_id.0, id.0, to_micros(at), i64::from(attempt), call)?;
    Ok(())
}

/// Answers that an attempt of a session took with the call that has the idempotency key `call`, oldest first.
pub async fn of_call(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    (attempt, call): (u32, &str),
    limit: u32,
) -> Result<Vec<AnswerRecord>> {
    let (attempt, limit) = (i64::from(attempt), i64::from(limit));
    let rows = run!(conn, fetch_all Row, OF_CALL, tenant_id.0, session_id.0, attempt, call, limit)?;
    Ok(rows.into_iter().map(AnswerRecord::from).collect())
}

/// One page of the answers of a session and of the root of its tree, oldest first, starting after the answer
/// `after`. `unconsumed` leaves out late answers and those that a claim has taken.
pub async fn answers(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (session_id, root): (SessionId, SessionId),
    unconsumed: bool,
    after: Option<(i64, RequestAnswerId)>,
    limit: u32,
) -> Result<Page<AnswerRecord>> {
    let (at, id) = after.map_or((i64::MIN, Uuid::nil()), |(at, id)| (at, id.0));
    let sql = if unconsumed { UNCONSUMED_OF_SESSIONS } else { OF_SESSIONS };
    let rows = run!(conn, fetch_all Row, sql, tenant_id.0, session_id.0, root.0, at, id, i64::from(limit) + 1)?;
    Ok(Page::of(rows.into_iter().map(AnswerRecord::from).collect(), limit))
}
