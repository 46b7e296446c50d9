//! `shiftbook work`: runs a command for each session of an agent.
//!
//! [`run`] claims sessions and hands each to [`session`], which starts the command ([`child`]), turns its
//! output into events ([`split`], [`lines`]), sends them in batches ([`outbox`]), keeps the lease ([`lease`]) and reports
//! the end. [`progress`] tells whoever watches.
//!
//! Fencing makes this safe, not care: a worker that lost its lease without knowing is refused by the server.
//! Deliberately not here: any state on disk. A worker that dies leaves its lease to run out.

mod args;
mod child;
mod lease;
mod limit;
mod lines;
mod outbox;
mod progress;
mod run;
mod session;
mod split;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use args::WorkArgs;
pub use run::run;
