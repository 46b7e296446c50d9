//! A typed client of Shiftbook's HTTP API: one method per endpoint, wire types in and out.
//!
//! - A call makes one request and waits at most a named time ([`limit`]). Nothing retries by itself:
//!   [`retry`] is the opt-in wrapper, with capped exponential backoff, jitter and `Retry-After`.
//! - [`Error`] tells a refusal by the server (a [`wire::Problem`]) from a network that failed, a time that
//!   ran out and an answer that makes no sense.
//! - [`EventStream`] follows a session's log and resumes where it was cut off.
//!
//! Deliberately not here: randomness (jitter is a hash of a seed the caller gives), sign-in and browser
//! cookies (tokens only), and TLS unless the feature `tls` is on, as it is in the product: an `https://` address is
//! refused without it. Redirects are never followed, because a token must not travel to another address.

pub mod limit;
pub mod sse;

mod action;
mod bundle;
mod entity;
mod error;
mod event;
mod hook;
mod retry;
mod session;
mod stream;
mod thread;
mod transport;
mod worker;

pub use error::Error;
pub use event::EventRange;
pub use retry::{Backoff, retry};
pub use session::SessionFilter;
pub use stream::{EventStream, Heard};
pub use transport::{Client, http_client};

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;
