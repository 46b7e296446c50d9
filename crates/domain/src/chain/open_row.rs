//! The digest of what a session was created with. The event that creates the session contains it, so that the chain
//! covers what workers and pages receive before the session ends.

use super::{Digest, field, optional};
use crate::clock::{Timestamp, to_micros};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The first bytes that the digest covers. They name the version of the encoding.
const TAG: &[u8] = b"shiftbook.session.open.v1";
/// Version that precedes the digest in its text form.
const VERSION: &str = "v1:";

/// The columns that a session gets when it is created. Only its title may change before it ends, and the event of that
/// change contains a new digest.
#[derive(Debug, Clone, Copy)]
pub struct OpenRow<'a> {
    /// Workspace of the session.
    pub tenant_id: Uuid,
    /// UUID of the session.
    pub session_id: Uuid,
    /// `agent`, `response`, `tool` or `mixed`.
    pub session_type: &'a str,
    /// Action that the session executes.
    pub action_id: Option<Uuid>,
    /// Slug of that action at creation.
    pub action_slug: Option<&'a str>,
    /// Agent that the session is queued for.
    pub agent_slug: Option<&'a str>,
    /// Person the session belongs to.
    pub user_id: Option<Uuid>,
    /// Part of the product or program that created the session.
    pub source: Option<&'a str>,
    /// Entity the session is about.
    pub entity_id: Option<Uuid>,
    /// Title that pages show.
    pub title: &'a str,
    /// Input, a JSON text.
    pub input: Option<&'a str>,
    /// Metadata, a JSON text.
    pub metadata: &'a str,
    /// Session that started this one.
    pub parent_id: Option<Uuid>,
    /// Session that this one retries.
    pub retry_of: Option<Uuid>,
    /// Caller that created the session.
    pub created_by: &'a str,
    /// Time of creation (UTC).
    pub created_at: Timestamp,
    /// Time limits of its action at creation, a JSON text.
    pub time_limits: &'a str,
    /// Number of sessions that it depends on.
    pub dependency_count: u32,
    /// Caller who alone sees the session.
    pub private_to: Option<&'a str>,
}

/// Returns the digest of an open row. It covers long texts by their digests.
pub fn open_digest(row: &OpenRow<'_>) -> Digest {
    let mut hash = Sha256::new();
    hash.update(TAG);
    let mut put = |bytes: &[u8]| hash.update(bytes);
    for id in [row.tenant_id, row.session_id] {
        put(id.as_bytes());
    }
    for text in [row.session_type, row.created_by, row.time_limits] {
        field(&mut put, text.as_bytes());
    }
    for text in [row.action_slug, row.agent_slug, row.source, row.private_to] {
        optional(&mut put, text);
    }
    for id in [row.action_id, row.user_id, row.entity_id, row.parent_id, row.retry_of] {
        put(&[u8::from(id.is_some())]);
        put(id.unwrap_or_default().as_bytes());
    }
    for text in [Some(row.title), Some(row.metadata), row.input] {
        put(&[u8::from(text.is_some())]);
        put(&text.map_or([0; 32], |text| Sha256::digest(text.as_bytes()).into()));
    }
    put(&row.dependency_count.to_be_bytes());
    put(&to_micros(row.created_at).to_be_bytes());
    Digest(hash.finalize().into())
}

/// Returns the text form of the digest, with its version, as the metadata of an event contains it.
pub fn open_digest_text(digest: Digest) -> String {
    format!("{VERSION}{digest}")
}

/// Parses the text form that [`open_digest_text`] returns; `None` for another version.
pub fn parse_open_digest(text: &str) -> Option<Digest> {
    Digest::parse(text.strip_prefix(VERSION)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> OpenRow<'static> {
        let id = |n| Some(Uuid::from_u128(n));
        OpenRow {
            tenant_id: Uuid::from_u128(1),
            session_id: Uuid::from_u128(2),
            session_type: "agent",
            action_id: id(3),
            action_slug: Some("triage"),
            agent_slug: Some("scout"),
            user_id: id(4),
            source: Some("api"),
            entity_id: id(5),
            title: "Triage",
            input: Some("{}"),
            metadata: "{}",
            parent_id: id(6),
            retry_of: id(7),
            created_by: "user:8",
            created_at: Timestamp::UNIX_EPOCH,
            time_limits: "{}",
            dependency_count: 0,
            private_to: None,
        }
    }

    #[test]
    fn the_digest_of_a_known_row_never_changes() {
        // Stored chains depend on this value. Another encoding needs a new version.
        insta::assert_snapshot!(open_digest_text(open_digest(&row())));
    }

    #[test]
    fn every_column_is_covered() {
        let (other, later) = (Some(Uuid::from_u128(99)), Timestamp::from_timestamp_micros(99));
        let base = open_digest(&row());
        let variants = [
            OpenRow { tenant_id: Uuid::from_u128(99), ..row() },
            OpenRow { session_id: Uuid::from_u128(99), ..row() },
            OpenRow { session_type: "mixed", ..row() },
            OpenRow { action_id: other, ..row() },
            OpenRow { action_slug: None, ..row() },
            OpenRow { agent_slug: Some("triage"), action_slug: Some("scout"), ..row() },
            OpenRow { user_id: None, ..row() },
            OpenRow { source: Some(""), ..row() },
            OpenRow { entity_id: other, ..row() },
            OpenRow { title: "triage", ..row() },
            OpenRow { input: None, ..row() },
            OpenRow { metadata: "{ }", ..row() },
            OpenRow { parent_id: other, ..row() },
            OpenRow { retry_of: None, ..row() },
            OpenRow { created_by: "user:9", ..row() },
            OpenRow { created_at: later.unwrap_or_default(), ..row() },
            OpenRow { time_limits: "{ }", ..row() },
            OpenRow { dependency_count: 1, ..row() },
            OpenRow { private_to: Some("user:8"), ..row() },
        ];
        for variant in variants {
            assert_ne!(base, open_digest(&variant), "{variant:?}");
        }
    }

    #[test]
    fn only_this_version_of_the_text_is_read() {
        let text = open_digest_text(open_digest(&row()));
        assert_eq!(parse_open_digest(&text), Some(open_digest(&row())));
        for other in [&text[3..], "v2:00", "v1:", ""] {
            assert_eq!(parse_open_digest(other), None, "{other}");
        }
    }
}
