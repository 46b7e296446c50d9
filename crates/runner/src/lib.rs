//! Background work: what has to happen although nobody asked.
//!
//! Sweeps, imports, messages, captured turns, retention in files, and the executor that runs agents.

pub mod capture;
pub mod execute;
pub mod import;
pub mod mail;
pub mod outbox;
pub mod retention;
pub mod sweep;
mod webhook;
