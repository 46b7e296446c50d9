//! The digest of a final session's row. The event that ends the session contains it, so that the chain covers
//! what pages show of the session, and not only its events.

use super::{Digest, field, optional};
use crate::clock::{Timestamp, to_micros};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The first bytes that the digest of a final row covers. They name the version of the encoding.
const TAG: &[u8] = b"shiftbook.session.v1";
/// Version that precedes the digest in its text form.
const VERSION: &str = "v1:";

/// The columns of a final row that pages show. After the end only retention changes them.
#[derive(Debug, Clone, Copy)]
pub struct FinalRow<'a> {
    /// Workspace of the session.
    pub tenant_id: Uuid,
    /// UUID of the session.
    pub session_id: Uuid,
    /// `agent`, `response`, `tool` or `mixed`.
    pub session_type: &'a str,
    /// Final status.
    pub status: &'a str,
    /// Why the session ended, such as `cancelled`; `None` if its status says enough.
    pub end_reason: Option<&'a str>,
    /// Action that the session executed.
    pub action_id: Option<Uuid>,
    /// Slug of that action at creation.
    pub action_slug: Option<&'a str>,
    /// Agent that the session was queued for.
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
    /// Result, a JSON text.
    pub result: Option<&'a str>,
    /// Usage, a JSON text.
    pub usage: Option<&'a str>,
    /// Error message for people.
    pub error_message: Option<&'a str>,
    /// Error code for programs.
    pub error_code: Option<&'a str>,
    /// Session that started this one.
    pub parent_id: Option<Uuid>,
    /// Session that this one retries.
    pub retry_of: Option<Uuid>,
    /// Caller that created the session.
    pub created_by: &'a str,
    /// Number of claims.
    pub attempt: u32,
    /// Time of creation (UTC).
    pub created_at: Timestamp,
    /// Time at which the session last became pending (UTC).
    pub queued_at: Option<Timestamp>,
    /// Time at which the session was first claimed or began (UTC).
    pub started_at: Option<Timestamp>,
    /// Time at which the session became final (UTC).
    pub completed_at: Option<Timestamp>,
}

/// Returns the digest of a final row. It covers long texts by their digests.
pub fn final_digest(row: &FinalRow<'_>) -> Digest {
    let mut hash = Sha256::new();
    hash.update(TAG);
    let mut put = |bytes: &[u8]| hash.update(bytes);
    for id in [row.tenant_id, row.session_id] {
        put(id.as_bytes());
    }
    for text in [row.session_type, row.status, row.created_by] {
        field(&mut put, text.as_bytes());
    }
    for text in [row.end_reason, row.action_slug, row.agent_slug, row.source, row.error_code] {
        optional(&mut put, text);
    }
    for id in [row.action_id, row.user_id, row.entity_id, row.parent_id, row.retry_of] {
        put(&[u8::from(id.is_some())]);
        put(id.unwrap_or_default().as_bytes());
    }
    for text in [Some(row.title), Some(row.metadata), row.input, row.result, row.usage, row.error_message] {
        put(&[u8::from(text.is_some())]);
        put(&text.map_or([0; 32], |text| Sha256::digest(text.as_bytes()).into()));
    }
    put(&row.attempt.to_be_bytes());
    put(&to_micros(row.created_at).to_be_bytes());
    for at in [row.queued_at, row.started_at, row.completed_at] {
        put(&[u8::from(at.is_some())]);
        put(&at.map_or(0, to_micros).to_be_bytes());
    }
    Digest(hash.finalize().into())
}

/// Returns the text form of the digest, with its version, as the metadata of the last event contains it.
pub fn final_digest_text(digest: Digest) -> String {
    format!("{VERSION}{digest}")
}

/// Parses the text form that [`final_digest_text`] returns; `None` for another version.
pub fn parse_final_digest(text: &str) -> Option<Digest> {
    Digest::parse(text.strip_prefix(VERSION)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> FinalRow<'static> {
        let id = |n| Some(Uuid::from_u128(n));
        let at = |micros| Timestamp::from_timestamp_micros(micros);
        FinalRow {
            tenant_id: Uuid::from_u128(1),
            session_id: Uuid::from_u128(2),
            session_type: "agent",
            status: "completed",
            end_reason: Some("completed"),
            action_id: id(3),
            action_slug: Some("triage"),
            agent_slug: Some("scout"),
            user_id: id(4),
            source: Some("api"),
            entity_id: id(5),
            title: "Triage",
            input: Some("{}"),
            metadata: "{}",
            result: Some("[1]"),
            usage: Some("{\"tokens\":1}"),
            error_message: Some("no"),
            error_code: Some("none"),
            parent_id: id(6),
            retry_of: id(7),
            created_by: "user:8",
            attempt: 1,
            created_at: Timestamp::UNIX_EPOCH,
            queued_at: at(1),
            started_at: at(2),
            completed_at: at(3),
        }
    }

    #[test]
    fn the_digest_of_a_known_row_never_changes() {
        // Stored chains depend on this value. Another encoding needs a new version.
        insta::assert_snapshot!(final_digest_text(final_digest(&row())));
    }

    #[test]
    fn every_column_is_covered() {
        let (other, later) = (Some(Uuid::from_u128(99)), Timestamp::from_timestamp_micros(99));
        let base = final_digest(&row());
        let variants = [
            FinalRow { tenant_id: Uuid::from_u128(99), ..row() },
            FinalRow { session_id: Uuid::from_u128(99), ..row() },
            FinalRow { session_type: "mixed", ..row() },
            FinalRow { status: "failed", ..row() },
            FinalRow { end_reason: None, ..row() },
            FinalRow { action_id: other, ..row() },
            FinalRow { action_slug: None, ..row() },
            FinalRow { agent_slug: Some("triage"), action_slug: Some("scout"), ..row() },
            FinalRow { user_id: None, ..row() },
            FinalRow { source: Some(""), ..row() },
            FinalRow { entity_id: other, ..row() },
            FinalRow { title: "triage", ..row() },
            FinalRow { input: None, ..row() },
            FinalRow { metadata: "{ }", ..row() },
            FinalRow { result: Some(""), ..row() },
            FinalRow { usage: None, ..row() },
            FinalRow { error_message: None, ..row() },
            FinalRow { error_code: None, ..row() },
            FinalRow { parent_id: None, ..row() },
            FinalRow { retry_of: other, ..row() },
            FinalRow { created_by: "user:9", ..row() },
            FinalRow { attempt: 2, ..row() },
            FinalRow { created_at: later.unwrap(), ..row() },
            FinalRow { queued_at: None, ..row() },
            FinalRow { started_at: later, ..row() },
            FinalRow { completed_at: later, ..row() },
        ];
        for variant in variants {
            assert_ne!(base, final_digest(&variant), "{variant:?}");
        }
    }

    #[test]
    fn another_version_is_not_read() {
        let text = final_digest_text(final_digest(&row()));
        assert_eq!(parse_final_digest(&text), Some(final_digest(&row())));
        for other in [text.replace("v1:", "v2:"), text.replace("v1:", ""), String::new()] {
            assert_eq!(parse_final_digest(&other), None, "{other}");
        }
    }
}
