//! HTTP/1.1 as a load generator needs it: request bytes that are made once, one answer at a time, no copies.
//!
//! hyper takes half as much CPU time again for each request (docs/libraries.md), on cores that the server under test
//! needs.

mod chunked;
mod connection;
mod head;
mod request;
mod sse;

pub use connection::{Answer, Body, Connection};
pub use request::{Request, credentials, encoded};
pub use sse::{Scanner, Stream};
