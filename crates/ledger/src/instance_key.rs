//! The instance key: the one secret of an installation that is not in its database. A stolen database alone
//! cannot sign anything.

use domain::{Entropy, chain::Digest};
use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
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

/// A number that encrypts one text, and no other under the same key.
pub(crate) type SealNonce = [u8; NONCE_LEN];

impl InstanceKey {
    /// Creates a random number for [`Self::seal`]. It has 96 bits, and each object has a key of its own, so none comes
    /// twice for a key.
    pub(crate) fn nonce(entropy: &dyn Entropy) -> SealNonce {
        let mut nonce = [0; NONCE_LEN];
        entropy.fill(&mut nonce);
        nonce
    }

    fn cipher(&self, purpose: &str, of: &[&[u8]]) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.derive(purpose, of)).ok().map(LessSafeKey::new)
    }

    /// Encrypts a text with the key that [`Self::derive`] returns for the purpose and the object. The result is the
    /// nonce, then the text and its tag by ChaCha20-Poly1305 (RFC 8439). `None` if the text is too long for it, which
    /// is 256 GiB.
    pub(crate) fn seal(&self, purpose: &str, of: &[&[u8]], nonce: SealNonce, text: &[u8]) -> Option<Vec<u8>> {
        let mut body = text.to_vec();
        let cipher = self.cipher(purpose, of)?;
        cipher.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut body).ok()?;
        Some([nonce.as_slice(), &body].concat())
    }

    /// Decrypts what [`Self::seal`] returned. `None` if the key, the purpose or the object is another one, or a byte
    /// was changed.
    pub(crate) fn open(&self, purpose: &str, of: &[&[u8]], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut body = body.to_vec();
        let cipher = self.cipher(purpose, of)?;
        let text = cipher.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::empty(), &mut body).ok()?;
        Some(text.to_vec())
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
    fn only_the_same_key_purpose_and_object_open_what_was_sealed() {
        let (key, of): (_, [&[u8]; 1]) = (InstanceKey([1; BYTES]), [b"a"]);
        let sealed = key.seal("tool secret", &of, [7; NONCE_LEN], b"hunter2").unwrap();
        assert!(!sealed.windows(7).any(|bytes| bytes == b"hunter2"));
        assert_eq!(key.open("tool secret", &of, &sealed).as_deref(), Some(b"hunter2".as_slice()));
        assert_eq!(InstanceKey([2; BYTES]).open("tool secret", &of, &sealed), None);
        assert_eq!(key.open("other", &of, &sealed), None);
        assert_eq!(key.open("tool secret", &[b"b"], &sealed), None);
        for changed in 0..sealed.len() {
            let mut bytes = sealed.clone();
            bytes[changed] ^= 1;
            assert_eq!(key.open("tool secret", &of, &bytes), None, "byte {changed}");
        }
        assert_eq!(key.open("tool secret", &of, &[]), None);
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
