//! Limits of this crate.

/// Most dimensions of a vector.
pub const DIMENSIONS_MAX: usize = 4_096;
/// Largest file of a model, bytes.
pub const MODEL_BYTES_MAX: u64 = 1 << 30;
/// Most texts of one request to an endpoint. There are fewer for vectors of so many dimensions that the answer would be
/// larger than [`outbound::limit::BODY_BYTES_MAX`].
pub const ENDPOINT_TEXTS_MAX: usize = 64;
/// Characters of the texts of one request to an endpoint, unless a single text has more.
pub const ENDPOINT_CHARS_MAX: usize = 64_000;
/// Bytes that a number takes in an answer, with a comma, a line break and the spaces before it.
pub const NUMBER_BYTES_MAX: usize = 40;
/// Longest name by which stored vectors say what made them, characters.
pub const MODEL_ID_CHARS_MAX: usize = 200;
