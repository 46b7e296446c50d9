//! The fingerprint of a failure.

use super::{Origin, message::normalise};
use crate::id::CauseId;
use sha2::{Digest as _, Sha256};
use uuid::Builder;

/// Version of the rule that groups failures. Failures that an earlier rule grouped are grouped again after an upgrade.
/// It rises with each change of [`fingerprint`], [`normalise`] or [`super::origin`] that changes a fingerprint.
pub const RULE: u16 = 1;

/// What the failures of one cause have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Id of the cause. It follows from the other fields and the version of the rule, so every server finds the same.
    pub id: CauseId,
    /// Error code.
    pub code: String,
    /// Tool and step.
    pub origin: Origin,
    /// Normalised message, for people.
    pub message: String,
}

/// Returns the fingerprint of a failure with this code, origin and message.
pub fn fingerprint(code: &str, origin: Origin, message: &str) -> Fingerprint {
    let message = normalise(message);
    let mut hash = Sha256::new();
    hash.update(RULE.to_be_bytes());
    for part in [Some(code), origin.tool.as_deref(), origin.step.as_deref(), Some(message.as_str())] {
        // The length keeps two neighbours from being read as others, and tells none from empty.
        hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_be_bytes());
        hash.update(part.unwrap_or_default());
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    let id = CauseId(Builder::from_custom_bytes(bytes).into_uuid());
    Fingerprint { id, code: code.to_owned(), origin, message }
}
