//! HTTP requests to addresses that people or agents choose. The product makes such requests only through this crate.
//!
//! A server that calls any address can be made to call its own network: the cloud's metadata service, a database
//! without a password, an admin page on the loopback. Every request therefore goes through [`Client::fetch`]: a name is
//! resolved once, all its addresses are checked, and the connection goes to those addresses only. Redirects are
//! returned, not followed. Addresses that the operator configured, such as a model's API or an SMTP server, do not need
//! this crate.
//!
//! It uses reqwest, which the product contains anyway: reqwest's resolver can be replaced, so that the checked
//! addresses are the ones it connects to, and redirects, proxies and pooling can be turned off.

mod address;
mod client;
mod destination;
mod error;
mod hosts;
pub mod limit;
mod resolve;

pub use address::{InvalidNetwork, Policy};
pub use client::{Client, Incoming, Request, Response};
pub use destination::Destination;
pub use error::{Error, Result};
pub use hosts::{Hosts, InvalidHost};
pub use reqwest::Method;
pub use resolve::{Addresses, Resolver, SystemResolver};
