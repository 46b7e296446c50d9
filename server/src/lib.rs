//! The HTTP server and the command line of Shiftbook: configuration, connections, API, pages and
//! commands.
//!
//! Only this crate knows HTTP. A handler authenticates the caller, calls one use case of `ledger`
//! and maps its record to `wire`. Rules about what a session may do are in `domain` and `ledger`,
//! not here.
//!
//! # Errors
//!
//! A handler answers with a [`problem::Problem`]: that of the extractor that refuses the request,
//! or the error of its use case as `wire_map::error` maps it. A command of the command line ends
//! with the failure of what it calls, as text for the operator. This is not repeated. A function
//! that has another failure names it in its own `# Errors`.

mod accept;
mod agents;
mod ambient;
pub mod api;
pub mod assets;
mod backups;
mod body_memory;
mod browser;
mod build_version;
mod card_places;
pub mod cli;
pub mod config;
pub mod cookie;
mod embed_snippet;
mod embedder;
mod export_options;
pub mod extract;
mod form_limit;
mod host;
mod http_tools;
mod log;
mod memory_writers;
mod metrics;
mod middleware;
mod nonce;
mod paced_log;
pub mod problem;
mod protocol;
mod render;
mod request_span;
mod result_file;
mod router;
mod server_function;
mod setup_code;
mod shares;
mod shutdown;
mod sign_in_limit;
mod sign_in_log;
mod sse;
pub mod state;
mod stream;
mod traces;
mod transcript_cache;
pub mod web;
pub mod wire_map;
mod worker_api;
mod writer_settings;

pub use middleware::RequestId;
pub use nonce::Nonce;
pub use state::AppState;
