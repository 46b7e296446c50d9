//! Rows of `responses` and `response_counts`: answers of respondents to views.

use crate::{
    engine::{Conn, Error, Result, is_free, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Caller, Timestamp,
    clock::{from_micros, to_micros},
    id::{EntityId, SessionId, TenantId, ViewId, ViewLinkId},
    response::{DraftEvents, RespondentKind, Scores},
    view::Answers,
};
use uuid::Uuid;

pub use list::{Filter, ResponseCounts, counts, list, versions_of_view};
pub use promoted::{promoted_of_lead, promoted_of_member, promotion_sessions};

macro_rules! response_select {
    ($rest:literal) => {
        concat!(
            "SELECT session_id, view_id, version, request_id, link_id, respondent_kind, respondent, lead_entity_id, state, rev, \
             answers, submission_id, once, late, draft_events, drafted_at, created_at, saved_at, submitted_at, \
             promoted_entity_id, promoted_by, promoted_at, scores, promotion_session_id FROM responses \
              WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

/// Leaves out what was answered in the incognito session of someone else. Only answers to questions can be that.
macro_rules! seen_by {
    ($reader:literal) => {
        concat!(
            "(request_id IS NULL OR EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_id = responses.tenant_id \
             AND s.id = responses.session_id AND (s.private_to IS NULL OR s.private_to = ",
            $reader,
            ")))"
        )
    };
}

// After the macros, which the statements of lists use.
pub(crate) mod list;
pub(crate) mod promoted;

statements! {
    const BY_ID: &str = response_select!("session_id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = response_select!("session_id = $2 FOR UPDATE");
    const BY_SUBMISSION: &str = response_select!("view_id = $2 AND submission_id = $3");
    // The states are written out, so that the partial indexes of drafts and of answered questions apply: a browser that
    // answers a form again and again would otherwise read all its responses each time.
    const DRAFT_OF_FORM: &str =
        response_select!("view_id = $2 AND respondent = $3 AND request_id IS NULL AND state = 'draft'");
    const DRAFT_OF_REQUEST: &str =
        response_select!("view_id = $2 AND respondent = $3 AND request_id = $4 AND state = 'draft'");
    const SUBMITTED_OF_FORM: &str = response_select!(
        "view_id = $2 AND respondent = $3 AND request_id IS NULL AND state = 'submitted' ORDER BY session_id DESC LIMIT 1"
    );
    const SUBMITTED_OF_REQUEST: &str =
        response_select!("view_id = $2 AND respondent = $3 AND request_id = $4 AND state = 'submitted'");
    const INSERT: &str = "INSERT INTO responses (tenant_id, session_id, view_id, version, request_id, link_id, \
         respondent_kind, respondent, lead_entity_id, state, rev, answers, submission_id, once, late, draft_events, drafted_at, \
         created_at, saved_at, submitted_at, scores) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17, $18, $19, $20, $21)";
    const SAVE: &str = "UPDATE responses SET version = $3, respondent_kind = $4, lead_entity_id = $5, state = $6, rev = $7, \
         answers = $8, submission_id = $9, once = $10, late = $11, draft_events = $12, drafted_at = $13, saved_at = $14, \
         submitted_at = $15, scores = $16 WHERE tenant_id = $1 AND session_id = $2";
    const PROMOTE: &str = "UPDATE responses SET promoted_entity_id = $3, promoted_by = $4, promoted_at = $5 \
         WHERE tenant_id = $1 AND session_id = $2 AND promoted_entity_id IS NULL";
    const PROMOTE_BY: &str = "UPDATE responses SET promotion_session_id = $3 \
         WHERE tenant_id = $1 AND session_id = $2 AND promoted_entity_id IS NULL";
    const PROMOTED_BY: &str = "UPDATE responses SET promoted_entity_id = $3, promoted_by = $4, promoted_at = $5 \
         WHERE tenant_id = $1 AND promotion_session_id = $2 AND promoted_entity_id IS NULL";
    const OF_ENTITY: &str =
        concat!(response_select!("promoted_entity_id = $2 AND "), seen_by!("$4"), " ORDER BY session_id DESC LIMIT $3");
    const ABANDON: &str =
        "UPDATE responses SET state = 'abandoned' WHERE tenant_id = $1 AND session_id = $2 AND state = 'draft'";
    const OPEN_DRAFTS: &str =
        "SELECT COUNT(*) FROM (SELECT 1 FROM responses WHERE tenant_id = $1 AND view_id = $2 AND state = 'draft' LIMIT $3) d";
    const LEFT: &str = "SELECT tenant_id, session_id FROM responses WHERE state = 'draft' AND saved_at <= $1 \
         ORDER BY saved_at LIMIT $2";
    const COUNT_ONE: &str = "INSERT INTO response_counts (tenant_id, view_id, submitted) VALUES ($1, $2, 1) \
         ON CONFLICT (tenant_id, view_id) DO UPDATE SET submitted = response_counts.submitted + 1 RETURNING submitted";
    const SUBMITTED: &str = "SELECT submitted FROM response_counts WHERE tenant_id = $1 AND view_id = $2";
    const ACT_FOR_RESPONDENT_POSTGRES: &str =
        "SELECT set_config('app.respondent', $1, true), set_config('app.asking_session', $2, true)";
}

/// State of a row. The session's status says the same; the row has it for its indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseState {
    /// It can be saved and submitted.
    Draft,
    /// It was submitted.
    Submitted,
    /// Its session ended without a submission.
    Abandoned,
}

impl ResponseState {
    /// The stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Submitted => "submitted",
            Self::Abandoned => "abandoned",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Draft, Self::Submitted, Self::Abandoned].into_iter().find(|state| state.as_str() == text)
    }
}

/// An entity that was made from a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// What was made from the response.
    pub entity_id: EntityId,
    /// Who promoted the response: `user:…` or `token:…`.
    pub by: String,
    /// Time of the promotion (UTC).
    pub at: Timestamp,
}

/// The answers of one respondent to one view.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseRecord {
    /// The response's session, which also identifies the response.
    pub session_id: SessionId,
    /// The form that was answered.
    pub view_id: ViewId,
    /// Version of the view that the answers are for.
    pub version: u64,
    /// The agent's question that the response answers; `None` for a plain form.
    pub request_id: Option<Uuid>,
    /// The link by which the respondent came; `None` for members.
    pub link_id: Option<ViewLinkId>,
    /// How the server knows the respondent.
    pub respondent_kind: RespondentKind,
    /// Id of the person or token, or an id derived from the browser's cookie.
    pub respondent: Uuid,
    /// The entity with the name and e-mail address that the respondent gave.
    pub lead_entity_id: Option<EntityId>,
    /// State of the row.
    pub state: ResponseState,
    /// Number of saves so far.
    pub rev: u64,
    /// The answers: as typed in a draft, checked once submitted.
    pub answers: Answers,
    /// The client's id of the submission.
    pub submission_id: Option<String>,
    /// Whether the view took one response of each respondent when this was submitted.
    pub once: bool,
    /// Whether it was submitted after its question had expired or was answered.
    pub late: bool,
    /// Events of its saves.
    pub draft_events: DraftEvents,
    /// Time of the first save (UTC).
    pub created_at: Timestamp,
    /// Time of the last save or of the submission (UTC).
    pub saved_at: Timestamp,
    /// Time of the submission (UTC).
    pub submitted_at: Option<Timestamp>,
    /// The entity that was made from it.
    pub promotion: Option<Promotion>,
    /// Results of the safety gate for its ratings; empty without a rating and before it is submitted.
    pub scores: Scores,
    /// The session in which a task makes the entity.
    pub promotion_session_id: Option<SessionId>,
}

record! {
    struct Row of "responses" {
        session_id: SessionId,
        view_id: ViewId,
        version: u64,
        request_id: Option<Uuid>,
        link_id: Option<ViewLinkId>,
        respondent_kind: RespondentKind,
        respondent: Uuid,
        lead_entity_id: Option<EntityId>,
        state: String,
        rev: u64,
        answers: String,
        submission_id: Option<String>,
        once: i64,
        late: i64,
        draft_events: u32,
        drafted_at: Option<Timestamp>,
        created_at: Timestamp,
        saved_at: Timestamp,
        submitted_at: Option<Timestamp>,
        promoted_entity_id: Option<Uuid>,
        promoted_by: Option<String>,
        promoted_at: Option<i64>,
        scores: Option<String>,
        promotion_session_id: Option<SessionId>,
    }
}

impl TryFrom<Row> for ResponseRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("responses", column, value);
        let promotion = match (row.promoted_entity_id, row.promoted_by, row.promoted_at) {
            (Some(id), Some(by), Some(at)) => Some(Promotion { entity_id: EntityId(id), by, at: from_micros(at) }),
            (None, None, None) => None,
            other => return Err(bad("promoted_at", &other)),
        };
        Ok(Self {
            session_id: row.session_id,
            view_id: row.view_id,
            version: row.version,
            request_id: row.request_id,
            link_id: row.link_id,
            respondent_kind: row.respondent_kind,
            respondent: row.respondent,
            lead_entity_id: row.lead_entity_id,
            state: ResponseState::parse(&row.state).ok_or_else(|| bad("state", &row.state))?,
            rev: row.rev,
            answers: serde_json::from_str(&row.answers).map_err(|_| bad("answers", &"not an object"))?,
            submission_id: row.submission_id,
            once: row.once == 1,
            late: row.late == 1,
            draft_events: DraftEvents { count: row.draft_events, last_at: row.drafted_at },
            created_at: row.created_at,
            saved_at: row.saved_at,
            submitted_at: row.submitted_at,
            promotion,
            scores: match row.scores {
                None => Scores::new(),
                Some(json) => serde_json::from_str(&json).map_err(|_| bad("scores", &"not an object"))?,
            },
            promotion_session_id: row.promotion_session_id,
        })
    }
}

type One<T> = (T,);

fn record(row: Option<Row>) -> Result<Option<ResponseRecord>> {
    row.map(ResponseRecord::try_from).transpose()
}

fn scores_json(scores: &Scores) -> Result<Option<String>> {
    let json = serde_json::to_string(scores).map_err(|_| Error::inconsistent("responses", "scores", "not JSON"))?;
    Ok((!scores.is_empty()).then_some(json))
}

fn json(answers: &Answers) -> Result<String> {
    serde_json::to_string(answers).map_err(|_| Error::inconsistent("responses", "answers", "not JSON"))
}

/// A response of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<ResponseRecord>> {
    record(run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<ResponseRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    record(run!(tx.conn(), fetch_optional Row, sql, tenant_id.0, id.0)?)
}

/// The response with this submission id.
pub async fn find_by_submission(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    view_id: ViewId,
    submission_id: &str,
) -> Result<Option<ResponseRecord>> {
    record(run!(conn, fetch_optional Row, BY_SUBMISSION, tenant_id.0, view_id.0, submission_id)?)
}

/// Identifies the responses of one respondent to one form or question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseKey {
    /// Workspace of the form.
    pub tenant_id: TenantId,
    /// The form that was answered.
    pub view_id: ViewId,
    /// The agent's question; `None` for a plain form.
    pub request_id: Option<Uuid>,
    /// Id of the person or token, or an id derived from a cookie.
    pub respondent: Uuid,
}

/// The draft with this key. There is at most one.
pub async fn draft_of(conn: &mut Conn<'_>, key: ResponseKey) -> Result<Option<ResponseRecord>> {
    find_by_key(conn, key, DRAFT_OF_FORM, DRAFT_OF_REQUEST).await
}

/// The newest submitted response with this key.
pub async fn submitted_of(conn: &mut Conn<'_>, key: ResponseKey) -> Result<Option<ResponseRecord>> {
    find_by_key(conn, key, SUBMITTED_OF_FORM, SUBMITTED_OF_REQUEST).await
}

async fn find_by_key(
    conn: &mut Conn<'_>,
    key: ResponseKey,
    of_form: &'static str,
    of_request: &'static str,
) -> Result<Option<ResponseRecord>> {
    let ResponseKey { tenant_id, view_id, request_id, respondent } = key;
    record(match request_id {
        None => run!(conn, fetch_optional Row, of_form, tenant_id.0, view_id.0, respondent)?,
        Some(request) => run!(conn, fetch_optional Row, of_request, tenant_id.0, view_id.0, respondent, request)?,
    })
}

/// Adds a response. `false` if another draft or response of the respondent, or another response with its submission
/// id, was added meanwhile. On PostgreSQL the transaction is lost then: begin it again.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, response: &ResponseRecord) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        response.session_id.0,
        response.view_id.0,
        response.version.cast_signed(),
        response.request_id,
        response.link_id.map(|id| id.0),
        response.respondent_kind.as_str(),
        response.respondent,
        response.lead_entity_id.map(|id| id.0),
        response.state.as_str(),
        response.rev.cast_signed(),
        json(&response.answers)?.as_str(),
        response.submission_id.as_deref(),
        i64::from(response.once),
        i64::from(response.late),
        i64::from(response.draft_events.count),
        response.draft_events.last_at.map(to_micros),
        to_micros(response.created_at),
        to_micros(response.saved_at),
        response.submitted_at.map(to_micros),
        scores_json(&response.scores)?.as_deref(),
    );
    is_free(inserted)
}

/// Writes the changed fields of a response whose lock the caller holds. `false` as for [`insert`].
pub async fn save(tx: &mut WriteTx<'_>, tenant_id: TenantId, response: &ResponseRecord) -> Result<bool> {
    let saved = run!(
        tx.conn(),
        execute,
        SAVE,
        tenant_id.0,
        response.session_id.0,
        response.version.cast_signed(),
        response.respondent_kind.as_str(),
        response.lead_entity_id.map(|id| id.0),
        response.state.as_str(),
        response.rev.cast_signed(),
        json(&response.answers)?.as_str(),
        response.submission_id.as_deref(),
        i64::from(response.once),
        i64::from(response.late),
        i64::from(response.draft_events.count),
        response.draft_events.last_at.map(to_micros),
        to_micros(response.saved_at),
        response.submitted_at.map(to_micros),
        scores_json(&response.scores)?.as_deref(),
    );
    is_free(saved)
}

/// Records the entity that was made from a response. `false` if there is one already.
pub async fn promote(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, to: &Promotion) -> Result<bool> {
    let (by, at) = (to.by.as_str(), to_micros(to.at));
    Ok(run!(tx.conn(), execute, PROMOTE, tenant_id.0, id.0, to.entity_id.0, by, at)? == 1)
}

/// Records the session in which a task makes an entity from a response.
pub async fn promote_by(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, by: SessionId) -> Result<()> {
    run!(tx.conn(), execute, PROMOTE_BY, tenant_id.0, id.0, by.0)?;
    Ok(())
}

/// Records the entity that a task made in the session `by`. `false` if no response waits for that session.
pub async fn promoted_by(tx: &mut WriteTx<'_>, tenant_id: TenantId, by: SessionId, to: &Promotion) -> Result<bool> {
    let (actor, at) = (to.by.as_str(), to_micros(to.at));
    Ok(run!(tx.conn(), execute, PROMOTED_BY, tenant_id.0, by.0, to.entity_id.0, actor, at)? >= 1)
}

/// Responses from which an entity was made and that `reader` may read, newest first, at most `limit`.
pub async fn of_entity(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    entity_id: EntityId,
    reader: Caller,
    limit: u32,
) -> Result<Vec<ResponseRecord>> {
    let (reader, limit) = (reader.to_string(), i64::from(limit));
    let rows = run!(conn, fetch_all Row, OF_ENTITY, tenant_id.0, entity_id.0, limit, reader.as_str())?;
    rows.into_iter().map(ResponseRecord::try_from).collect()
}

/// Closes the draft of a session that ended without a submission. Does nothing if there is none.
pub async fn abandon(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, ABANDON, tenant_id.0, id.0)?;
    Ok(())
}

/// Number of open drafts of a view, counted up to `at_most`.
pub async fn open_drafts(conn: &mut Conn<'_>, tenant_id: TenantId, view_id: ViewId, at_most: u32) -> Result<u32> {
    let (count,) = run!(conn, fetch_one One<i64>, OPEN_DRAFTS, tenant_id.0, view_id.0, i64::from(at_most))?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Drafts of every workspace that were saved last at `saved_until` or before, longest left first.
pub async fn left(conn: &mut Conn<'_>, saved_until: Timestamp, max: u32) -> Result<Vec<(TenantId, SessionId)>> {
    let rows = run!(conn, fetch_all(Uuid, Uuid), LEFT, to_micros(saved_until), i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), SessionId(id))).collect())
}

/// Number of submitted responses of a view.
pub async fn submitted(conn: &mut Conn<'_>, tenant_id: TenantId, view_id: ViewId) -> Result<u64> {
    let count = run!(conn, fetch_optional One<i64>, SUBMITTED, tenant_id.0, view_id.0)?;
    Ok(count.map_or(0, |(count,)| count.max(0).cast_unsigned()))
}

/// Counts one more submitted response of a view and returns their number. The count is locked until the transaction
/// ends.
pub async fn count_one(tx: &mut WriteTx<'_>, tenant_id: TenantId, view_id: ViewId) -> Result<u64> {
    let (count,) = run!(tx.conn(), fetch_one One<i64>, COUNT_ONE, tenant_id.0, view_id.0)?;
    Ok(count.max(0).cast_unsigned())
}

/// Limits the rest of the transaction to the responses of one respondent, and to the session whose question is
/// answered. PostgreSQL enforces it row by row.
pub async fn act_for(conn: &mut Conn<'_>, respondent: Uuid, asking: Option<SessionId>) -> Result<()> {
    if let Conn::Postgres(c) = conn {
        let asking = asking.map(|id| id.to_string()).unwrap_or_default();
        let respondent = respondent.hyphenated().to_string();
        sqlx::query(ACT_FOR_RESPONDENT_POSTGRES).bind(respondent).bind(asking).execute(&mut **c).await?;
    }
    Ok(())
}
