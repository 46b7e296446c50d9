//! The digest of the usage that a session has while it is open. The events at which a worker may report usage contain
//! it, so that the chain covers what budgets are compared with before the session ends.

use super::Digest;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The first bytes that the digest covers. They name the version of the encoding.
const TAG: &[u8] = b"shiftbook.session.usage.v1";
/// Version that precedes the digest in its text form.
const VERSION: &str = "v1:";

/// Returns the digest of the usage of a session: a JSON text, or `None` if nothing was reported.
pub fn usage_digest(tenant_id: Uuid, session_id: Uuid, usage: Option<&str>) -> Digest {
    let mut hash = Sha256::new();
    hash.update(TAG);
    hash.update(tenant_id);
    hash.update(session_id);
    hash.update([u8::from(usage.is_some())]);
    hash.update(usage.unwrap_or_default());
    Digest(hash.finalize().into())
}

/// Returns the text form of the digest, with its version, as the metadata of an event contains it.
pub fn usage_digest_text(digest: Digest) -> String {
    format!("{VERSION}{digest}")
}

/// Parses the text form that [`usage_digest_text`] returns; `None` for another version.
pub fn parse_usage_digest(text: &str) -> Option<Digest> {
    Digest::parse(text.strip_prefix(VERSION)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tenant: u128, session: u128, usage: Option<&str>) -> Digest {
        usage_digest(Uuid::from_u128(tenant), Uuid::from_u128(session), usage)
    }

    #[test]
    fn the_digest_of_a_known_usage_never_changes() {
        // Stored chains depend on this value. Another encoding needs a new version.
        insta::assert_snapshot!(usage_digest_text(of(1, 2, Some("{}"))));
    }

    #[test]
    fn session_and_usage_are_covered() {
        let base = of(1, 2, Some("{}"));
        for other in
            [of(9, 2, Some("{}")), of(1, 9, Some("{}")), of(1, 2, Some("{ }")), of(1, 2, Some("")), of(1, 2, None)]
        {
            assert_ne!(base, other);
        }
        assert_ne!(of(1, 2, Some("")), of(1, 2, None));
    }

    #[test]
    fn only_this_version_of_the_text_is_read() {
        let digest = of(1, 2, None);
        assert_eq!(parse_usage_digest(&usage_digest_text(digest)), Some(digest));
        assert_eq!(parse_usage_digest(&digest.to_string()), None);
    }
}
