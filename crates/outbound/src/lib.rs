//! The only way out to addresses that people or agents choose.
//!
//! A server that calls any address it is given can be made to call its own neighbours: the cloud's metadata service, a
//! database without a password, an admin page on the loopback. So every call goes through [`Client::fetch`]: a name is
//! resolved once, all its addresses are judged, and the connection goes to those and no others. Redirects are answers,
//! not instructions. Calls to addresses that the operator wrote into the configuration (a model's API, an SMTP server)
//! do not need this room.
//!
//! It stands on reqwest, which the binary has already: its resolver can be replaced, so that what was judged is what is
//! connected to, and redirects, proxies and pooling can be turned off. A connection of our own over hyper would repeat
//! its TLS and happy eyeballs, to no gain.

mod address;
mod client;
mod destination;
mod error;
mod hosts;
pub mod limit;
mod resolve;

pub use address::{BadNetwork, Policy};
pub use client::{Client, Request, Response};
pub use destination::Destination;
pub use error::{Error, Result};
pub use hosts::{BadHost, Hosts};
pub use reqwest::Method;
pub use resolve::{Addresses, Resolver, System};
