//! The instance key: the one secret of an installation that is not in its database. A stolen database alone
//! cannot sign anything.

use domain::{Entropy, chain::Digest};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Length in bytes of the key and of every derived secret.
const BYTES: usize = 32;
/// Block length of SHA-256 in bytes. HMAC pads shorter keys with zeros.
const BLOCK: usize = 64;

/// 256 random bits, the same on every server of an installation. It must never be logged, so it does not
/// implement `Debug`.
#[derive(Clone)]
pub struct InstanceKey([u8; BYTES]);

/// The text is not an instance key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an instance key is {} hexadecimal digits", BYTES * 2)]
pub struct BadInstanceKey;

impl InstanceKey {
    /// Creates a random key.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; BYTES];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// Parses the content of a key file: 64 hexadecimal digits, with optional white space around them.
    ///
    /// # Errors
    /// [`BadInstanceKey`] for any other text.
    pub fn parse(text: &str) -> Result<Self, BadInstanceKey> {
        Digest::parse(text.trim()).map(|digest| Self(digest.0)).ok_or(BadInstanceKey)
    }

    /// Returns the key as hexadecimal digits, the format of its file.
    pub fn to_hex(&self) -> String {
        Digest(self.0).to_string()
    }

    /// Derives a secret for one purpose and one object. The key and other secrets cannot be computed from it.
    pub(crate) fn derive(&self, purpose: &str, of: &[&[u8]]) -> [u8; BYTES] {
        let mut parts = vec![purpose.as_bytes(), &[0]];
        parts.extend(of);
        hmac_sha256(&self.0, &parts)
    }
}

/// HMAC-SHA256 of the concatenated parts.
pub(crate) fn hmac_sha256(key: &[u8; BYTES], parts: &[&[u8]]) -> [u8; BYTES] {
    let mut block = [0; BLOCK];
    block[..BYTES].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_file_and_nothing_else_is_a_key() {
        let key = InstanceKey([0xa7; BYTES]);
        let hex = key.to_hex();
        assert_eq!(InstanceKey::parse(&format!(" {hex}\n")).map(|key| key.0), Ok(key.0));
        for bad in [
            "",
            "a7",
            &hex[1..],
            &format!("{hex}00"),
            &hex.replace('a', "g"),
            &"é".repeat(BYTES),
            &hex.replace("a7", "+1"),
        ] {
            assert_eq!(InstanceKey::parse(bad).err(), Some(BadInstanceKey), "{bad}");
        }
    }

    #[test]
    fn what_is_derived_differs_by_key_purpose_and_thing() {
        let derive = |key: u8, purpose, of| InstanceKey([key; BYTES]).derive(purpose, of);
        let one = derive(1, "webhook", &[b"a", b"b"]);
        assert_eq!(one, derive(1, "webhook", &[b"a", b"b"]));
        for other in
            [derive(2, "webhook", &[b"a", b"b"]), derive(1, "other", &[b"a", b"b"]), derive(1, "webhook", &[b"a"])]
        {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn the_mac_is_the_one_of_rfc_4231() {
        // Test case 1 of the RFC has a key of 20 bytes. Padding it with zeros does not change the result.
        let mut key = [0; BYTES];
        key[..20].fill(0x0b);
        let mac: String = hmac_sha256(&key, &[b"Hi ", b"There"]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(mac, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    }
}
