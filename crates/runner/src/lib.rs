//! Background work: what has to happen although nobody asked.
//!
//! Now: sweeps. Agent adapters and the executor join them here.

pub mod sweep;
