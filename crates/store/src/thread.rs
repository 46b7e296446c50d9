//! Conversations: sessions whose source is `thread`.

use crate::{
    engine::{Conn, Page, Result, run, statements},
    session::{Row, session_select},
};
use domain::{
    id::{EventId, SessionId, TenantId, UserId},
    session::Session,
};
use uuid::Uuid;

statements! {
    // Two index scans from the newest row, one for each condition. The UNION removes duplicates.
    const LIST_OWN: &str = session_select!(
        "tenant_id = $1 AND id IN (\
         SELECT id FROM (SELECT id FROM sessions WHERE tenant_id = $1 AND source = 'thread' AND created_by = $2 AND id < $4 \
         ORDER BY id DESC LIMIT $5) AS begun \
         UNION SELECT id FROM (SELECT id FROM sessions WHERE tenant_id = $1 AND source = 'thread' AND user_id = $3 AND id < $4 \
         ORDER BY id DESC LIMIT $5) AS theirs) ORDER BY id DESC LIMIT $5"
    );
    const MESSAGE_BY_ID: &str = "SELECT sequence, content FROM session_events \
         WHERE tenant_id = $1 AND session_id = $2 AND event_id = $3 AND event_type = 'user.message'";
    const ANSWER_BY_ID: &str = "SELECT sequence, metadata FROM session_events \
         WHERE tenant_id = $1 AND session_id = $2 AND event_id = $3 AND event_type = 'user.form_submit'";
    const COUNT_MESSAGES: &str = "SELECT COUNT(*) FROM session_events \
         WHERE tenant_id = $1 AND session_id = $2 AND event_type = 'user.message'";
    const COUNT_EVENTS: &str =
        "SELECT COUNT(*) FROM session_events WHERE tenant_id = $1 AND session_id = $2 AND event_id = $3";
}

/// Conversations that the caller began or that are the person's own, newest first, before `before`.
pub async fn own(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (created_by, user): (&str, Option<UserId>),
    before: Option<SessionId>,
    limit: u32,
) -> Result<Page<Session>> {
    // Larger than any id.
    let before = before.map_or(Uuid::max(), |id| id.0);
    let more = i64::from(limit) + 1;
    let mut rows = run!(conn, fetch_all Row, LIST_OWN, tenant_id.0, created_by, user.map(|user| user.0), before, more)?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    Ok(Page { items: rows.into_iter().map(Session::try_from).collect::<Result<_>>()?, has_more })
}

/// The event that a client-made id already identifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownEvent {
    /// No event has the id.
    New,
    /// A message: its sequence and content.
    Message(u64, String),
    /// An answer to a question of the agent: its sequence and metadata.
    Answer(u64, String),
    /// Another event.
    Other,
}

/// The event of this session that has this id.
pub async fn known(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    event_id: EventId,
) -> Result<KnownEvent> {
    let message = run!(conn, fetch_optional(i64, String), MESSAGE_BY_ID, tenant_id.0, session_id.0, event_id.0)?;
    if let Some((sequence, content)) = message {
        return Ok(KnownEvent::Message(sequence.cast_unsigned(), content));
    }
    let answer = run!(conn, fetch_optional(i64, String), ANSWER_BY_ID, tenant_id.0, session_id.0, event_id.0)?;
    if let Some((sequence, metadata)) = answer {
        return Ok(KnownEvent::Answer(sequence.cast_unsigned(), metadata));
    }
    let (others,) = run!(conn, fetch_one One, COUNT_EVENTS, tenant_id.0, session_id.0, event_id.0)?;
    Ok(if others == 0 { KnownEvent::New } else { KnownEvent::Other })
}

/// Number of messages of people in a session.
pub async fn messages(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<u64> {
    Ok(run!(conn, fetch_one One, COUNT_MESSAGES, tenant_id.0, session_id.0)?.0.cast_unsigned())
}

/// A row of one number. Written out, the formatter would take the tuple for a call's arguments.
type One = (i64,);
