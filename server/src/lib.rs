//! Composition root: configuration, accept loop, shield, API, pages and command line.
//!
//! Only this crate knows HTTP. Handlers authenticate, call one use case of `ledger` and map its
//! record to `wire`; nothing here decides what a session may do.

mod accept;
mod agents;
mod ambient;
pub mod api;
pub mod assets;
mod browser;
pub mod cli;
pub mod config;
pub mod cookie;
mod export_options;
mod exports;
pub mod extract;
mod host;
mod metrics;
mod nonce;
pub mod problem;
mod render;
mod router;
mod sealed;
mod setup_code;
mod shield;
mod shutdown;
mod sse;
pub mod state;
mod stream_dump;
mod summary_agents;
mod thread_end;
pub mod web;
pub mod wire_map;
mod worker_api;

pub use nonce::Nonce;
pub use shield::RequestId;
pub use state::AppState;
