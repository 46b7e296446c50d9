//! The script nonce of a response. The content security policy lets only scripts with the nonce run.

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use domain::Entropy;

/// Random bytes of a nonce.
const NONCE_BYTES: usize = 16;
/// The script nonce of one response. Pages put it on every inline and linked script.
#[derive(Debug, Clone)]
pub struct Nonce(std::sync::Arc<str>);

impl Nonce {
    /// Creates a random nonce.
    pub fn new(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; NONCE_BYTES];
        entropy.fill(&mut bytes);
        Self(STANDARD_NO_PAD.encode(bytes).into())
    }

    /// The value of a script's `nonce` attribute.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
