//! The roll: the hash chain of a workspace's sessions. Each place covers the place before it, so that a removed
//! session is detected and can be named.

use super::{Digest, field, optional};
use crate::clock::{Timestamp, to_micros};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The first bytes that the digest of an entry covers. They name the version of the encoding.
const ENTRY_TAG: &[u8] = b"shiftbook.roll.entry.v1";
/// The first bytes that a root covers.
const ROOT_TAG: &[u8] = b"shiftbook.roll.v1";

/// The fields of a session that its entry covers. They are set at creation, and are never changed or erased.
#[derive(Debug, Clone, Copy)]
pub struct RollEntry<'a> {
    /// Workspace of the session.
    pub tenant_id: Uuid,
    /// UUID of the session.
    pub session_id: Uuid,
    /// `agent`, `response`, `tool` or `mixed`.
    pub session_type: &'a str,
    /// Caller that created the session.
    pub created_by: &'a str,
    /// Time the session was created (UTC).
    pub created_at: Timestamp,
    /// Action that the session executes.
    pub action_id: Option<Uuid>,
    /// Session that started this one.
    pub parent_id: Option<Uuid>,
    /// Agent that the session was queued for.
    pub agent_slug: Option<&'a str>,
    /// Part of the product or program that created the session.
    pub source: Option<&'a str>,
    /// Digest of the session's first event.
    pub first_event: Digest,
}

/// Returns the digest of an entry.
pub fn entry_digest(entry: &RollEntry<'_>) -> Digest {
    let mut hash = Sha256::new();
    hash.update(ENTRY_TAG);
    let mut put = |bytes: &[u8]| hash.update(bytes);
    put(entry.tenant_id.as_bytes());
    put(entry.session_id.as_bytes());
    field(&mut put, entry.session_type.as_bytes());
    field(&mut put, entry.created_by.as_bytes());
    put(&to_micros(entry.created_at).to_be_bytes());
    for id in [entry.action_id, entry.parent_id] {
        put(&[u8::from(id.is_some())]);
        put(id.unwrap_or_default().as_bytes());
    }
    optional(&mut put, entry.agent_slug);
    optional(&mut put, entry.source);
    put(&entry.first_event.0);
    Digest(hash.finalize().into())
}

/// Returns the root of a roll after the place `ordinal`, which holds this entry. `previous` is the root after
/// the place before it, or [`Digest::GENESIS`] for the first place.
pub fn roll_root(previous: Digest, tenant_id: Uuid, ordinal: u64, session_id: Uuid, entry: Digest) -> Digest {
    let mut hash = Sha256::new();
    hash.update(ROOT_TAG);
    hash.update(previous.0);
    hash.update(tenant_id.as_bytes());
    hash.update(ordinal.to_be_bytes());
    hash.update(session_id.as_bytes());
    hash.update(entry.0);
    Digest(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> RollEntry<'static> {
        RollEntry {
            tenant_id: Uuid::from_u128(1),
            session_id: Uuid::from_u128(2),
            session_type: "agent",
            created_by: "user:3",
            created_at: Timestamp::UNIX_EPOCH,
            action_id: Some(Uuid::from_u128(4)),
            parent_id: None,
            agent_slug: Some("scout"),
            source: None,
            first_event: Digest([5; 32]),
        }
    }

    #[test]
    fn the_digests_of_a_known_roll_never_change() {
        // Stored rolls depend on these values. Another encoding needs a new version.
        let entry = entry_digest(&entry());
        let root = roll_root(Digest::GENESIS, Uuid::from_u128(1), 1, Uuid::from_u128(2), entry);
        insta::assert_snapshot!(format!("{entry}\n{root}"));
    }

    #[test]
    fn every_field_is_covered() {
        let other = Uuid::from_u128(99);
        let base = entry_digest(&entry());
        let variants = [
            RollEntry { tenant_id: other, ..entry() },
            RollEntry { session_id: other, ..entry() },
            RollEntry { session_type: "tool", ..entry() },
            RollEntry { created_by: "user:4", ..entry() },
            RollEntry { created_at: Timestamp::from_timestamp_micros(1).unwrap(), ..entry() },
            RollEntry { action_id: None, ..entry() },
            RollEntry { parent_id: Some(other), ..entry() },
            RollEntry { agent_slug: None, source: Some("scout"), ..entry() },
            RollEntry { source: Some(""), ..entry() },
            RollEntry { first_event: Digest::GENESIS, ..entry() },
        ];
        for variant in variants {
            assert_ne!(base, entry_digest(&variant), "{variant:?}");
        }
        let id = Uuid::from_u128(1);
        let root = roll_root(Digest::GENESIS, id, 1, id, base);
        for changed in [
            roll_root(root, id, 1, id, base),
            roll_root(Digest::GENESIS, other, 1, id, base),
            roll_root(Digest::GENESIS, id, 2, id, base),
            roll_root(Digest::GENESIS, id, 1, other, base),
            roll_root(Digest::GENESIS, id, 1, id, Digest::GENESIS),
        ] {
            assert_ne!(root, changed);
        }
    }
}
