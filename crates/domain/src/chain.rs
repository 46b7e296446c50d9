//! The hash chain of a session's events. The digest of each event covers the digest before it, so that a
//! changed, removed, swapped or inserted event is detected.
//!
//! The chain covers content and metadata by their digest only, so it still verifies after retention has erased
//! a text.

mod audit;
mod final_row;
mod open_row;
mod roll;
mod usage;

pub use audit::{AUDIT_TAG, AuditLink, audit_digest, audit_tail};
pub use final_row::{FinalRow, final_digest, final_digest_text, parse_final_digest};
pub use open_row::{OpenRow, open_digest, open_digest_text, parse_open_digest};
pub use roll::{RollEntry, entry_digest, roll_root};
pub use usage::{parse_usage_digest, usage_digest, usage_digest_text};

use crate::clock::{Timestamp, to_micros};
use sha2::{Digest as _, Sha256};
use std::fmt;
use uuid::Uuid;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest before a session's first event.
    pub const GENESIS: Self = Self([0; 32]);

    /// Returns the digest with these bytes; `None` unless there are 32.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Parses 64 hexadecimal digits, the form in which a [`Digest`] is displayed; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text is written in one call, because every event that is sent contains its digest.
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The fields of an event that its digest covers.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Workspace of the session.
    pub tenant_id: Uuid,
    /// Session of the event.
    pub session_id: Uuid,
    /// Number of the event in the session, from 1.
    pub sequence: u64,
    /// UUID of the event, chosen by its writer or by the server.
    pub event_id: Uuid,
    /// Kind of the event.
    pub kind: &'a str,
    /// Role of the event's author.
    pub role: &'a str,
    /// Caller that wrote the event, such as `token:…`.
    pub actor: &'a str,
    /// Attempt of the worker that wrote the event; `None` for other writers.
    pub attempt: Option<u32>,
    /// Thread within the session, if the writer names one.
    pub thread_id: Option<&'a str>,
    /// Id of the event in the system it came from.
    pub external_event_id: Option<&'a str>,
    /// Time of the event according to its writer (UTC).
    pub at: Timestamp,
    /// Time at which the server recorded the event (UTC).
    pub recorded_at: Timestamp,
    /// Digest of content and metadata, from [`body_digest`].
    pub body: Digest,
}

/// Returns the digest of an event's content and metadata, as they are stored.
pub fn body_digest(content: &str, metadata: &str) -> Digest {
    let mut hash = Sha256::new();
    let mut put = |bytes: &[u8]| hash.update(bytes);
    field(&mut put, content.as_bytes());
    field(&mut put, metadata.as_bytes());
    Digest(hash.finalize().into())
}

/// The first bytes that the digest of an event covers. They name the version of the encoding.
pub const TAG: &[u8] = b"shiftbook.event.v1";

/// Returns the digest of an event that follows the event with digest `previous`.
pub fn extend(previous: Digest, link: &Link<'_>) -> Digest {
    let mut hash = Sha256::new();
    hash.update(TAG);
    hash.update(previous.0);
    hash.update(link.tenant_id.as_bytes());
    hash.update(link.session_id.as_bytes());
    hash.update(link.sequence.to_be_bytes());
    hash.update(link.event_id.as_bytes());
    rest(link, &mut |bytes| hash.update(bytes));
    Digest(hash.finalize().into())
}

/// The first bytes that [`extend_erased`] covers. They name the version of the encoding.
const ERASED_TAG: &[u8] = b"shiftbook.erased_event.v1";

/// Returns the digest of erased events up to an event that follows those with digest `previous`. It covers what is left
/// of the event, with the digest that the log has of it, and not its id in the system it came from, which is erased.
pub fn extend_erased(previous: Digest, link: &Link<'_>, recorded: Digest) -> Digest {
    let link = Link { external_event_id: None, ..*link };
    let mut hash = Sha256::new();
    hash.update(ERASED_TAG);
    hash.update(previous.0);
    hash.update(link.tenant_id.as_bytes());
    hash.update(link.session_id.as_bytes());
    hash.update(link.sequence.to_be_bytes());
    hash.update(link.event_id.as_bytes());
    rest(&link, &mut |bytes| hash.update(bytes));
    hash.update(recorded.0);
    Digest(hash.finalize().into())
}

/// Returns the bytes of a link after the event's place (workspace, session, sequence) and id. They are the same
/// for all events that differ only in those. A statement that learns the place only in the database computes
/// the digest there: the SHA-256 of [`TAG`], the previous digest, workspace, session, sequence (eight bytes,
/// big-endian), id, and these bytes.
pub fn tail(link: &Link<'_>) -> Vec<u8> {
    let mut all = Vec::with_capacity(160);
    rest(link, &mut |bytes| all.extend_from_slice(bytes));
    all
}

fn rest(link: &Link<'_>, put: &mut dyn FnMut(&[u8])) {
    field(put, link.kind.as_bytes());
    field(put, link.role.as_bytes());
    field(put, link.actor.as_bytes());
    put(&link.attempt.map_or(-1, i64::from).to_be_bytes());
    optional(put, link.thread_id);
    optional(put, link.external_event_id);
    put(&to_micros(link.at).to_be_bytes());
    put(&to_micros(link.recorded_at).to_be_bytes());
    put(&link.body.0);
}

/// Writes the length before the bytes, so that two different lists of fields never have the same encoding.
fn field(put: &mut dyn FnMut(&[u8]), bytes: &[u8]) {
    put(&(bytes.len() as u64).to_be_bytes());
    put(bytes);
}

fn optional(put: &mut dyn FnMut(&[u8]), value: Option<&str>) {
    match value {
        None => put(&[0]),
        Some(text) => {
            put(&[1]);
            field(put, text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link<'static> {
        Link {
            tenant_id: Uuid::from_u128(1),
            session_id: Uuid::from_u128(2),
            sequence: 3,
            event_id: Uuid::from_u128(4),
            kind: "agent.message",
            role: "agent",
            actor: "token:5",
            attempt: Some(1),
            thread_id: None,
            external_event_id: Some("x"),
            at: Timestamp::UNIX_EPOCH,
            recorded_at: Timestamp::UNIX_EPOCH,
            body: body_digest("[]", "{}"),
        }
    }

    #[test]
    fn the_digest_of_a_known_event_never_changes() {
        // Stored chains depend on this value. Another encoding needs a new version.
        insta::assert_snapshot!(extend(Digest::GENESIS, &link()).to_string());
    }

    #[test]
    fn a_link_is_its_place_and_its_tail() {
        let whole = link();
        let mut bytes = [TAG, &Digest::GENESIS.0[..]].concat();
        for id in [whole.tenant_id, whole.session_id] {
            bytes.extend_from_slice(id.as_bytes());
        }
        bytes.extend_from_slice(&whole.sequence.to_be_bytes());
        bytes.extend_from_slice(whole.event_id.as_bytes());
        bytes.extend_from_slice(&tail(&Link { sequence: 9, event_id: Uuid::from_u128(9), ..link() }));
        assert_eq!(extend(Digest::GENESIS, &whole), Digest(Sha256::digest(&bytes).into()));
    }

    #[test]
    fn every_field_is_covered() {
        let base = extend(Digest::GENESIS, &link());
        let later = Timestamp::from_timestamp_micros(1).unwrap();
        let variants = [
            Link { tenant_id: Uuid::from_u128(9), ..link() },
            Link { session_id: Uuid::from_u128(9), ..link() },
            Link { sequence: 4, ..link() },
            Link { event_id: Uuid::from_u128(9), ..link() },
            Link { kind: "agent.thinking", ..link() },
            Link { role: "user", ..link() },
            Link { actor: "token:6", ..link() },
            Link { attempt: None, ..link() },
            Link { thread_id: Some(""), ..link() },
            Link { external_event_id: None, ..link() },
            Link { at: later, ..link() },
            Link { recorded_at: later, ..link() },
            Link { body: body_digest("[]", "{} "), ..link() },
        ];
        for variant in variants {
            assert_ne!(base, extend(Digest::GENESIS, &variant), "{variant:?}");
        }
        assert_ne!(base, extend(base, &link()));
    }
}
