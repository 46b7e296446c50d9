//! Secrets created by the server: 256 random bits with a recognisable prefix and a checksum.
//!
//! Only the SHA-256 digest is stored. A fast hash is enough, because 256 random bits cannot be guessed.

use domain::Entropy;
use sha2::{Digest as _, Sha256};

/// What a secret gives access to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretKind {
    /// An API token: `sbk_…`.
    Token,
    /// A browser cookie: `sbs_…`.
    Cookie,
    /// A single-use link: `sbl_…`.
    Link,
    /// A link to a form: `sbf_…`.
    Form,
    /// A link to a session: `sbv_…`.
    Share,
    /// A link to a tool: `sbr_…`.
    Tool,
}

impl SecretKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Token => "sbk_",
            Self::Cookie => "sbs_",
            Self::Link => "sbl_",
            Self::Form => "sbf_",
            Self::Share => "sbv_",
            Self::Tool => "sbr_",
        }
    }
}

/// Base62 digits of 256 bits.
const BODY_CHARS: usize = 43;
/// Base62 digits of the CRC-32.
const CHECK_CHARS: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A secret in plain text. It must never be logged, so it does not implement `Debug`.
pub(crate) struct Secret(String);

impl Secret {
    /// Creates a random secret.
    pub(crate) fn generate(kind: SecretKind, entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes);
        let body = format!("{}{}", kind.prefix(), base62(&bytes, BODY_CHARS));
        let check = base62(&crc32fast::hash(body.as_bytes()).to_be_bytes(), CHECK_CHARS);
        Self(format!("{body}_{check}"))
    }

    /// Parses a secret that a caller sent. Returns `None` unless it has the form and checksum of this kind, so
    /// typing errors never cause a database query.
    pub(crate) fn parse(kind: SecretKind, text: &str) -> Option<Self> {
        if text.len() != kind.prefix().len() + BODY_CHARS + 1 + CHECK_CHARS || !text.starts_with(kind.prefix()) {
            return None;
        }
        let (body, check) = text.rsplit_once('_')?;
        (base62(&crc32fast::hash(body.as_bytes()).to_be_bytes(), CHECK_CHARS) == check).then(|| Self(text.to_owned()))
    }

    /// The SHA-256 digest, by which a secret is stored and found.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// The first 10 characters, which lists show to identify the secret.
    pub(crate) fn hint(&self) -> String {
        self.0.chars().take(10).collect()
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Encodes big-endian bytes as `chars` base62 digits.
fn base62(bytes: &[u8], chars: usize) -> String {
    let mut number = bytes.to_vec();
    let mut digits = vec![ALPHABET[0]; chars];
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u32;
        for byte in &mut number {
            let value = (remainder << 8) | u32::from(*byte);
            *byte = u8::try_from(value / 62).unwrap_or_default();
            remainder = value % 62;
        }
        *digit = ALPHABET[remainder as usize];
    }
    digits.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u8);
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    #[test]
    fn a_secret_parses_and_any_changed_character_does_not() {
        for byte in [0, 7, 255] {
            let secret = Secret::generate(SecretKind::Token, &Fixed(byte)).into_string();
            assert!(secret.starts_with("sbk_"));
            assert!(Secret::parse(SecretKind::Token, &secret).is_some());
            assert!(Secret::parse(SecretKind::Cookie, &secret).is_none());
            for at in 0..secret.len() {
                let mut changed = secret.clone().into_bytes();
                changed[at] = if changed[at] == b'x' { b'y' } else { b'x' };
                assert!(Secret::parse(SecretKind::Token, &String::from_utf8(changed).unwrap()).is_none(), "{at}");
            }
        }
    }

    #[test]
    fn different_randomness_gives_different_secrets() {
        let one = Secret::generate(SecretKind::Token, &Fixed(1)).digest();
        assert_ne!(one, Secret::generate(SecretKind::Token, &Fixed(2)).digest());
    }
}
