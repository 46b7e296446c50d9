//! HTTP/1.1 as a load generator needs it: request bytes that are made once, one answer at a time, no copies.
//!
//! A client library would cost as much as the server under test, on the same two cores.

mod chunked;
mod connection;
mod head;
mod request;
mod sse;

pub use connection::{Answer, Body, Connection};
pub use request::{Request, credentials};
pub use sse::{Scanner, Stream};
