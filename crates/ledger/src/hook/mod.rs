//! Coding agents that report through hooks: one session for each session of the agent, without a worker.
//!
//! [`record`](record::record) takes a payload as the agent sent it, finds or creates its session ([`session`])
//! and writes the event and the status changes in one transaction ([`apply`]). No worker ever claims such a
//! session: it is never pending outside of a transaction, it has no lease, and its attempt stays 0.

mod apply;
mod attempt;
mod record;
mod session;

pub use record::{Answer, Hook, record};
