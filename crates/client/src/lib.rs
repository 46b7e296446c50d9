//! A typed client of Shiftbook's HTTP API: one method per endpoint, with the types of `wire`.
//!
//! - A call sends one request and has a timeout ([`limit`]). It is not repeated; [`retry`] repeats calls on request,
//!   with capped exponential backoff, jitter and `Retry-After`.
//! - [`Error`] distinguishes a refusal by the server (a [`wire::Problem`]), a network failure, a timeout, and an answer
//!   that is not one of this API.
//! - [`EventStream`] follows a session's log and reconnects where it was cut off.
//!
//! Not included: randomness (jitter is a hash of a seed from the caller), sign-in and browser cookies (tokens only),
//! and TLS without the feature `tls`, which the product enables: without it an `https://` address is refused. Redirects
//! are not followed, so that the token is not sent to another address.
//!
//! # Errors
//!
//! Every call can fail with [`Error::Problem`] if the server refuses it (`docs/errors.md` lists the codes), and with
//! [`Error::Transport`], [`Error::Timeout`] or [`Error::Protocol`]. This is not repeated. A function that has another
//! failure names it in its own `# Errors`.

pub mod limit;
pub mod sse;

mod action;
mod approval;
mod bundle;
mod canvas;
mod entity;
mod error;
mod event;
mod failure_cause;
mod feedback_request;
mod history;
mod hook;
mod memory;
mod response;
mod retry;
mod search;
mod session;
mod stream;
mod thread;
mod tool;
mod transport;
mod view;
mod worker;

pub use error::Error;
pub use event::EventRange;
pub use failure_cause::CauseFilter;
pub use response::ResponseFilter;
pub use retry::{Backoff, retry};
pub use search::EventSearch;
pub use session::SessionFilter;
pub use stream::{EventStream, StreamItem};
pub use transport::{Client, http_client};

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;
