//! The hash chain of a workspace's audit entries. The digest of each entry covers the digest before it.

use super::{Digest, field, optional};
use crate::clock::{Timestamp, to_micros};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The first bytes that the digest of an audit entry covers. They name the version of the encoding.
pub const AUDIT_TAG: &[u8] = b"shiftbook.audit.v1";

/// The fields of an audit entry that its digest covers, without its place: workspace and sequence.
#[derive(Debug, Clone, Copy)]
pub struct AuditLink<'a> {
    /// Time of the act (UTC).
    pub at: Timestamp,
    /// Name of what was done.
    pub kind: &'a str,
    /// Caller that did it, such as `user:…`; `None` if no one had proven who they are.
    pub actor: Option<&'a str>,
    /// Kind and id of what it was done to.
    pub target: Option<(&'a str, Uuid)>,
    /// The detail as it is stored: a JSON object.
    pub detail: &'a str,
}

/// Returns the digest of the entry `sequence` of a workspace. `previous` is the digest of the entry before it, or
/// [`Digest::GENESIS`] for the first one.
pub fn audit_digest(previous: Digest, tenant_id: Uuid, sequence: u64, link: &AuditLink<'_>) -> Digest {
    let mut hash = Sha256::new();
    hash.update(AUDIT_TAG);
    hash.update(previous.0);
    hash.update(tenant_id.as_bytes());
    hash.update(sequence.to_be_bytes());
    rest(link, &mut |bytes| hash.update(bytes));
    Digest(hash.finalize().into())
}

/// Returns the bytes of a link after the entry's place. A statement that learns the place only in the database computes
/// the digest there: the SHA-256 of [`AUDIT_TAG`], the previous digest, workspace, sequence (eight bytes, big-endian),
/// and these bytes.
pub fn audit_tail(link: &AuditLink<'_>) -> Vec<u8> {
    let mut all = Vec::with_capacity(200);
    rest(link, &mut |bytes| all.extend_from_slice(bytes));
    all
}

fn rest(link: &AuditLink<'_>, put: &mut dyn FnMut(&[u8])) {
    put(&to_micros(link.at).to_be_bytes());
    field(put, link.kind.as_bytes());
    optional(put, link.actor);
    optional(put, link.target.map(|(kind, _)| kind));
    put(link.target.map_or(Uuid::nil(), |(_, id)| id).as_bytes());
    field(put, link.detail.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> AuditLink<'static> {
        AuditLink {
            at: Timestamp::UNIX_EPOCH,
            kind: "token.created",
            actor: Some("user:1"),
            target: Some(("token", Uuid::from_u128(2))),
            detail: r#"{"role":"admin"}"#,
        }
    }

    fn digest(link: &AuditLink<'_>) -> Digest {
        audit_digest(Digest::GENESIS, Uuid::from_u128(3), 1, link)
    }

    #[test]
    fn the_digest_of_a_known_entry_never_changes() {
        // Stored chains depend on this value. Another encoding needs a new version.
        insta::assert_snapshot!(digest(&link()).to_string());
    }

    #[test]
    fn a_link_is_its_place_and_its_tail() {
        let mut bytes = [AUDIT_TAG, &Digest::GENESIS.0[..]].concat();
        bytes.extend_from_slice(Uuid::from_u128(3).as_bytes());
        bytes.extend_from_slice(&1_u64.to_be_bytes());
        bytes.extend_from_slice(&audit_tail(&link()));
        assert_eq!(digest(&link()), Digest(Sha256::digest(&bytes).into()));
    }

    #[test]
    fn every_field_is_covered() {
        let base = digest(&link());
        let variants = [
            AuditLink { at: Timestamp::from_timestamp_micros(1).unwrap(), ..link() },
            AuditLink { kind: "token.revoked", ..link() },
            AuditLink { actor: None, ..link() },
            AuditLink { target: None, ..link() },
            AuditLink { target: Some(("group", Uuid::from_u128(2))), ..link() },
            AuditLink { target: Some(("token", Uuid::from_u128(4))), ..link() },
            AuditLink { detail: "{}", ..link() },
        ];
        for variant in variants {
            assert_ne!(base, digest(&variant), "{variant:?}");
        }
        let (tenant, other) = (Uuid::from_u128(3), Uuid::from_u128(9));
        for placed in [
            audit_digest(base, tenant, 1, &link()),
            audit_digest(Digest::GENESIS, other, 1, &link()),
            audit_digest(Digest::GENESIS, tenant, 2, &link()),
        ] {
            assert_ne!(base, placed);
        }
    }
}
