//! Runs agents: a worker claims sessions, runs an adapter for each, and records the outcome.
//!
//! [`WorkerPool`] claims sessions from a [`WorkerApi`] and passes each to [`Worker::run`]. The worker keeps the lease
//! ([`lease`]), appends the adapter's events in batches ([`event_queue`]) and completes, fails, yields or releases the
//! session. Adapters: [`command`] runs a program, [`chat`] calls a model and runs its tools ([`tool`]),
//! [`tool_run`] runs the tools of a workspace, with [`mcp`] for those of MCP servers. [`config`] builds adapters from
//! the operator's settings.
//!
//! A worker that has lost its lease without knowing does no harm: the server refuses calls with an old attempt. Nothing
//! is stored on disk. When a worker dies, its leases expire and the next worker continues from the log.

mod adapter;
mod agent_event;
mod call;
pub mod chat;
pub mod command;
pub mod config;
mod delta;
mod event;
mod event_queue;
mod lease;
pub mod limit;
mod log;
pub mod mcp;
mod notes;
mod observer;
mod picture;
mod pool;
mod progress;
mod prompt;
mod session;
mod think;
mod tokens;
pub mod tool;
mod tool_run;
mod transcript;
mod worker_api;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use adapter::{Adapter, ConversationSummary, Failure, Job, JobContext, Outcome, Phase};
pub use event_queue::EventStamp;
pub use lease::is_transient;
pub use observer::{LogObserver, Observer};
pub use pool::WorkerPool;
pub use session::{End, Worker};
pub use tool_run::{ServerTool, WorkerTool};
pub use worker_api::{ApiFuture, WorkerApi};
