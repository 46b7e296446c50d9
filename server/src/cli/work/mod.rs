//! `shiftbook work`: runs an agent for each of its sessions, from the command line.
//!
//! The work itself is `runner::execute`; here are the command line, the signals, and what whoever watches is told.

mod args;
mod progress;
mod run;

#[cfg(test)]
mod tests;

pub use args::WorkArgs;
pub use run::run;
