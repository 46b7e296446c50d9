//! Background work: what has to happen although nobody asked.
//!
//! Now: sweeps and imports. Agent adapters and the executor join them here.

pub mod import;
pub mod sweep;
