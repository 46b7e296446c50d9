//! Rows of `sessions`, and the session that a row is.

use super::{
    due, label,
    state::{self, Columns, Outcome},
};
use crate::engine::{Error, Result, record};
use domain::{
    chain::Digest,
    clock::from_micros,
    id::{ActionId, EntityId, SessionId, TenantId, UserId},
    session::{EndReason, Session, Status, Type, WaitsFor},
};
use uuid::Uuid;

/// Selects sessions for lists: without results of more than [`domain::limit::DOCUMENT_BYTES_MAX`], which are left out.
/// With `whole`, their results are read too. Only sessions that have such a result are looked up in its table.
macro_rules! session_select {
    (whole $rest:expr) => {
        session_select!(
            @ "CASE WHEN result = '' THEN (SELECT r.result FROM session_results r WHERE r.tenant_id = sessions.tenant_id \
             AND r.session_id = sessions.id) ELSE result END AS result", $rest
        )
    };
    (@ $result:literal, $rest:expr) => {
        concat!(
            "SELECT tenant_id, id, session_type, status, end_reason, action_id, action_slug, agent_slug, user_id, source, entity_id, \
             title, input, metadata, ",
            $result,
            ", usage, error_message, error_code, parent_id, retry_of, created_by, attempt, attempts_max, \
             lease_seconds, lease_expires_at, head_sequence, head_digest, created_at, updated_at, queued_at, started_at, \
             completed_at, time_limits, deadline_at, waits_for, dependency_count, awaited, private_to, tags, assignee FROM sessions WHERE ",
            $rest
        )
    };
    ($rest:expr) => {
        session_select!(@ "result", $rest)
    };
}
pub(crate) use session_select;

record! {
    pub(crate) struct Row of "sessions" {
        tenant_id: Uuid,
        id: Uuid,
        session_type: String,
        status: String,
        end_reason: Option<String>,
        action_id: Option<Uuid>,
        action_slug: Option<String>,
        agent_slug: Option<String>,
        user_id: Option<Uuid>,
        source: Option<String>,
        entity_id: Option<Uuid>,
        title: String,
        input: Option<String>,
        metadata: String,
        result: Option<String>,
        usage: Option<String>,
        error_message: Option<String>,
        error_code: Option<String>,
        parent_id: Option<Uuid>,
        retry_of: Option<Uuid>,
        created_by: String,
        attempt: i64,
        attempts_max: i64,
        lease_seconds: Option<i64>,
        lease_expires_at: Option<i64>,
        head_sequence: i64,
        head_digest: Vec<u8>,
        created_at: i64,
        updated_at: i64,
        queued_at: Option<i64>,
        started_at: Option<i64>,
        completed_at: Option<i64>,
        time_limits: Option<String>,
        deadline_at: Option<i64>,
        waits_for: Option<String>,
        dependency_count: i64,
        awaited: i64,
        private_to: Option<String>,
        tags: Option<String>,
        assignee: Option<String>,
    }
}

impl TryFrom<Row> for Session {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("sessions", column, value);
        let whole = |column, value: i64| u32::try_from(value).map_err(|_| bad(column, &value));
        let attempt = whole("attempt", row.attempt)?;
        let state = state::state(Columns {
            status: Status::parse(&row.status).ok_or_else(|| bad("status", &row.status))?,
            attempt,
            lease_seconds: row.lease_seconds.map(|seconds| whole("lease_seconds", seconds)).transpose()?,
            lease_expires_at: row.lease_expires_at.map(from_micros),
            deadline_at: row.deadline_at.map(from_micros),
            waits_for: match &row.waits_for {
                None => None,
                Some(text) => Some(WaitsFor::parse(text).ok_or_else(|| bad("waits_for", text))?),
            },
            end_reason: match &row.end_reason {
                None => None,
                Some(text) => Some(EndReason::parse(text).ok_or_else(|| bad("end_reason", text))?),
            },
            completed_at: row.completed_at.map(from_micros),
            outcome: Outcome { result: row.result, error_message: row.error_message, error_code: row.error_code },
        })?;
        Ok(Self {
            id: SessionId(row.id),
            tenant_id: TenantId(row.tenant_id),
            session_type: Type::parse(&row.session_type).ok_or_else(|| bad("session_type", &row.session_type))?,
            state,
            action_id: row.action_id.map(ActionId),
            action_slug: row.action_slug,
            agent_slug: row.agent_slug,
            user_id: row.user_id.map(UserId),
            source: row.source,
            entity_id: row.entity_id.map(EntityId),
            title: row.title,
            input: row.input,
            metadata: row.metadata,
            usage: row.usage,
            parent_id: row.parent_id.map(SessionId),
            retry_of: row.retry_of.map(SessionId),
            created_by: row.created_by,
            attempt,
            attempts_max: whole("attempts_max", row.attempts_max)?,
            head_sequence: u64::try_from(row.head_sequence).map_err(|_| bad("head_sequence", &row.head_sequence))?,
            head_digest: Digest::from_slice(&row.head_digest)
                .ok_or_else(|| bad("head_digest", &row.head_digest.len()))?,
            created_at: from_micros(row.created_at),
            updated_at: from_micros(row.updated_at),
            queued_at: row.queued_at.map(from_micros),
            started_at: row.started_at.map(from_micros),
            time_limits: due::limits(row.time_limits.as_deref())?,
            dependency_count: whole("dependency_count", row.dependency_count)?,
            awaited: row.awaited == 1,
            private_to: row.private_to,
            tags: match &row.tags {
                None => Vec::new(),
                Some(json) => serde_json::from_str(json).map_err(|_| bad("tags", json))?,
            },
            assignee: match &row.assignee {
                None => None,
                Some(text) => Some(label::member(text).ok_or_else(|| bad("assignee", text))?),
            },
        })
    }
}

pub(crate) fn record(row: Option<Row>) -> Result<Option<Session>> {
    row.map(Session::try_from).transpose()
}
