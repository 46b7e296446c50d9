//! Finds events that are recorded already, to recognise a request that is repeated.

use super::{AppendRequest, Head};
use crate::engine::{Conn, Result, record, run, statements};
use domain::{
    Timestamp,
    chain::Digest,
    id::{EventId, SessionId, TenantId},
};

statements! {
    const RECORDED_BY_ID: &str = "SELECT event_id, sequence, event_type, role, thread_id, external_event_id, at, body_digest \
         FROM session_events WHERE tenant_id = $1 AND session_id = $2 AND event_id = $3";
    const RECORDED_BY_EXTERNAL_ID: &str = "SELECT event_id, sequence, event_type, role, thread_id, external_event_id, at, body_digest \
         FROM session_events WHERE tenant_id = $1 AND session_id = $2 AND external_event_id = $3";
    const METADATA_BY_EXTERNAL_ID: &str =
        "SELECT metadata FROM session_events WHERE tenant_id = $1 AND session_id = $2 AND external_event_id = $3";
}

/// What is kept of an event for recognising a repeat.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) id: EventId,
    pub(crate) sequence: u64,
    pub(crate) kind: String,
    pub(crate) role: String,
    pub(crate) thread_id: Option<String>,
    pub(crate) external_event_id: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) body: Digest,
}

record! {
    struct RecordedRow of "session_events" {
        event_id: EventId,
        sequence: u64,
        event_type: String,
        role: String,
        thread_id: Option<String>,
        external_event_id: Option<String>,
        at: Timestamp,
        body_digest: Vec<u8>,
    }
}

/// For each event of the request, the recorded event with its id or external id.
pub(crate) async fn find_recorded(
    conn: &mut Conn<'_>,
    head: &Head,
    request: &AppendRequest,
) -> std::result::Result<Vec<Option<Recorded>>, sqlx::Error> {
    #[cfg(feature = "planted-bugs")]
    if crate::engine::planted::is(crate::engine::planted::Bug::NoDedup) {
        return Ok(vec![None; request.events.len()]);
    }
    let mut found = Vec::with_capacity(request.events.len());
    for event in &request.events {
        let mut row = None;
        if event.client_made {
            row = run!(conn, fetch_optional RecordedRow, RECORDED_BY_ID, head.tenant_id.0, head.id.0, event.id.0)?;
        }
        if let (None, Some(external)) = (&row, &event.external_event_id) {
            row =
                run!(conn, fetch_optional RecordedRow, RECORDED_BY_EXTERNAL_ID, head.tenant_id.0, head.id.0, external)?;
        }
        found.push(row.map(|row| Recorded {
            id: row.event_id,
            sequence: row.sequence,
            kind: row.event_type,
            role: row.role,
            thread_id: row.thread_id,
            external_event_id: row.external_event_id,
            at: row.at,
            body: Digest::from_slice(&row.body_digest).unwrap_or(Digest::GENESIS),
        }));
    }
    Ok(found)
}

/// Whether the session has an event with this external id.
pub async fn has_external(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    external_event_id: &str,
) -> Result<bool> {
    let found =
        run!(conn, fetch_optional RecordedRow, RECORDED_BY_EXTERNAL_ID, tenant_id.0, session_id.0, external_event_id)?;
    Ok(found.is_some())
}

/// Metadata of the session's event with this external id, as JSON; `None` if there is no such event.
pub async fn metadata_of_external(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    external_event_id: &str,
) -> Result<Option<String>> {
    type Metadata = (String,);
    let found =
        run!(conn, fetch_optional Metadata, METADATA_BY_EXTERNAL_ID, tenant_id.0, session_id.0, external_event_id)?;
    Ok(found.map(|(metadata,)| metadata))
}
