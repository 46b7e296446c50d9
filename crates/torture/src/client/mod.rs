//! An HTTP client that distinguishes requests that were not sent, answered, or lost.

mod api;
mod connection;
mod parse;
mod sse;

pub use api::{Api, NewSession, body_digest};
pub use connection::{Connection, Reply};
pub use sse::{Stream, StreamItem};
