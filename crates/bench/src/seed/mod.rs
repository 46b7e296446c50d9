//! Rows made in bulk, by SQL and past every rule: years of history in a minute. Digests are filler: nothing
//! here verifies, and nothing that is measured on these rows looks at the chain.

pub mod memory;
pub mod postgres;
pub mod sqlite;

/// The agent of sessions that wait to be claimed.
pub const AGENT: &str = "bench-queue";
/// History is spread over a year.
const YEAR_MICROS: i64 = 365 * 24 * 3_600 * 1_000_000;
