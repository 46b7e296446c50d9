//! Our own HTTP client: it must know exactly whether a request was never sent, answered, or lost.

mod api;
mod connection;
mod parse;
mod sse;

pub use api::{Api, NewSession, body_digest};
pub use connection::{Connection, Reply};
pub use sse::{Frame, Frames, Said, Stream};
