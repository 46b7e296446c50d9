//! The setup code. A person who enters it proves that they can read the server's log.

use domain::Entropy;
use ledger::{Ledger, Result, auth};
use sha2::{Digest as _, Sha256};
use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

/// Random bytes of a code. 80 bits cannot be guessed.
const CODE_BYTES: usize = 10;
/// Characters between two hyphens of the shown code.
const GROUP_CHARS: usize = 4;
/// Characters of a code, five bits each. The letters I, L, O and U are left out, so no letter looks
/// like a digit.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Whether the server has been set up, and the code that setting it up needs. Each start of the
/// server creates a new code.
pub struct SetupState {
    is_done: AtomicBool,
    code: String,
}

impl fmt::Debug for SetupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetupState").finish_non_exhaustive()
    }
}

impl SetupState {
    /// Creates a state with a new random code.
    pub fn new(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; CODE_BYTES];
        entropy.fill(&mut bytes);
        Self { is_done: AtomicBool::new(false), code: base32(&bytes) }
    }

    /// Returns whether the server still has to be set up, which means that no account exists yet.
    /// After the first `false`, later calls do not read the database.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn is_open(&self, ledger: &Ledger) -> Result<bool> {
        if self.is_done.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let open = auth::needs_setup(ledger).await?;
        self.is_done.store(!open, Ordering::Relaxed);
        Ok(open)
    }

    /// Returns the code in groups of four characters, as it is shown to the operator.
    pub fn grouped_code(&self) -> String {
        let groups = self.code.as_bytes().chunks(GROUP_CHARS);
        groups.map(|group| String::from_utf8_lossy(group).into_owned()).collect::<Vec<_>>().join("-")
    }

    /// Returns whether the typed text is the code. Digests are compared, so the time taken reveals
    /// nothing about the code.
    pub fn is_code(&self, typed: &str) -> bool {
        Sha256::digest(plain(typed)) == Sha256::digest(&self.code)
    }
}

/// Normalizes a typed code: removes hyphens and spaces, and replaces letters that look like digits
/// by those digits.
fn plain(typed: &str) -> String {
    let meant = |c: char| match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        c => c,
    };
    typed.chars().filter(|c| !c.is_whitespace() && *c != '-').map(meant).collect()
}

/// Encodes five bits in each character, starting with the most significant bit of the first byte.
fn base32(bytes: &[u8; CODE_BYTES]) -> String {
    let bit = |n: usize| (bytes[n / 8] >> (7 - n % 8)) & 1;
    let character = |n: usize| {
        let index = (n * 5..n * 5 + 5).fold(0, |index, n| index << 1 | usize::from(bit(n)));
        char::from(ALPHABET[index])
    };
    (0..CODE_BYTES * 8 / 5).map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(u8);
    impl Entropy for Bytes {
        fn fill(&self, bytes: &mut [u8]) {
            for (n, byte) in bytes.iter_mut().enumerate() {
                let n = u8::try_from(n).unwrap_or_default();
                *byte = self.0.wrapping_mul(37).wrapping_add(n.wrapping_mul(29));
            }
        }
    }

    #[test]
    fn a_code_is_accepted_as_people_type_it_and_no_other_code_is() {
        let set_up = SetupState::new(&Bytes(7));
        let shown = set_up.grouped_code();
        assert_eq!((shown.len(), shown.split('-').count()), (19, 4), "{shown}");
        assert!(set_up.is_code(&shown));
        assert!(set_up.is_code(&format!(" {} ", shown.to_lowercase().replace('-', " "))));
        assert!(set_up.is_code(&shown.replace('0', "o").replace('1', "l")));
        for wrong in ["", "-", &shown[1..], &format!("{shown}0"), &SetupState::new(&Bytes(8)).grouped_code()] {
            assert!(!set_up.is_code(wrong), "{wrong}");
        }
    }

    #[test]
    fn every_bit_counts() {
        assert_eq!(base32(&[0; CODE_BYTES]), "0".repeat(16));
        assert_eq!(base32(&[0xff; CODE_BYTES]), "Z".repeat(16));
        let mut last = [0; CODE_BYTES];
        last[CODE_BYTES - 1] = 1;
        assert_eq!(base32(&last), format!("{}1", "0".repeat(15)));
    }
}
