//! Background work: what has to happen although nobody asked.
//!
//! Sweeps, imports, and the executor that runs agents.

pub mod execute;
pub mod import;
pub mod sweep;
