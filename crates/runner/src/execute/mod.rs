//! Running agents: a worker claims sessions, hands each to an adapter, and sees it to its end.
//!
//! [`Crew`] claims from a [`Desk`] and gives each session to [`Worker::run`], which keeps the lease ([`lease`]), takes
//! what the adapter says in batches ([`outbox`]) and settles the outcome. Adapters: [`command`] runs a program, [`chat`] asks a model and runs
//! its tools ([`tool`]).
//! [`config`] builds them from what an operator wrote.
//!
//! Fencing makes this safe, not care: a worker that lost its lease without knowing is refused.
//! Deliberately not here: any state on disk. A worker that dies leaves its lease to run out, and what it did is in the
//! log.

mod adapter;
pub mod chat;
pub mod command;
pub mod config;
mod crew;
mod desk;
mod event;
mod lease;
pub mod limit;
mod log;
mod outbox;
mod part;
mod prompt;
mod report;
mod session;
mod talk;
pub mod tool;
mod voice;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use adapter::{Adapter, Closing, Failure, Hand, Job, Outcome, Phase};
pub use crew::Crew;
pub use desk::{Answer, Desk};
pub use lease::may_pass;
pub use outbox::Stamp;
pub use report::{Logged, Report};
pub use session::{End, Worker};
