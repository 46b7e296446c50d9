//! Background work of the server, and the execution of agents ([`execute`]).
//!
//! Each of the other modules is one task: sweeps, imports, messages, capture of training data, and retention of its
//! files.

pub mod capture;
pub mod execute;
pub mod import;
pub mod mail;
pub mod outbox;
pub mod retention;
pub mod sweep;
