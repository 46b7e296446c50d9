//! Background work: what has to happen although nobody asked.
//!
//! Sweeps, imports, messages, captured turns, and the executor that runs agents.

pub mod capture;
pub mod execute;
pub mod import;
pub mod mail;
pub mod outbox;
pub mod sweep;
mod webhook;
