//! `shiftbook work`: runs an agent from the command line, once per session.
//!
//! `runner::execute` does the work; this module has the command line, the signals and the progress display.

mod args;
mod progress;
mod run;

#[cfg(test)]
mod tests;

pub use args::WorkArgs;
pub use run::run;
