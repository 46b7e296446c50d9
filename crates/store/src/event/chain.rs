//! Gives an event its place in the chain of its session.

use super::{Head, NewRow, PreparedEvent};
use domain::{
    Timestamp,
    chain::{self, Link},
    clock::truncate,
    event::Event,
};

/// Advances `head` by one event.
pub(crate) fn link(
    head: &mut Head,
    event: &PreparedEvent,
    attempt: Option<u32>,
    actor: &str,
    recorded_at: Timestamp,
) -> NewRow {
    let recorded_at = truncate(recorded_at);
    let at = event.at.map_or(recorded_at, truncate);
    head.head_sequence += 1;
    head.head_digest = chain::extend(
        head.head_digest,
        &Link {
            tenant_id: head.tenant_id.0,
            session_id: head.id.0,
            sequence: head.head_sequence,
            event_id: event.id.0,
            kind: event.kind.as_str(),
            role: event.role.as_str(),
            actor,
            attempt,
            thread_id: event.thread_id.as_deref(),
            external_event_id: event.external_event_id.as_deref(),
            at,
            recorded_at,
            body: event.body,
        },
    );
    head.updated_at = recorded_at;
    head.moved = true;
    NewRow {
        tenant_id: head.tenant_id,
        record: Event {
            id: event.id,
            session_id: head.id,
            sequence: head.head_sequence,
            kind: event.kind.as_str().to_owned(),
            role: event.role,
            content: event.content.clone(),
            metadata: event.metadata.clone(),
            thread_id: event.thread_id.clone(),
            external_event_id: event.external_event_id.clone(),
            attempt,
            actor: actor.to_owned(),
            at,
            recorded_at,
            body: event.body,
            digest: head.head_digest,
        },
    }
}
