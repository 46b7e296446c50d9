//! Background work of the server, and the execution of agents ([`execute`]).
//!
//! Each of the other modules is one task: sweeps, imports, messages, the index of the search, capture of training data,
//! its export, retention of its files, training of the models that order memories, vectors of memories, and the end of
//! conversations, for which an agent writes a summary.

pub mod capture;
pub mod execute;
pub mod export;
pub mod forget;
pub mod import;
pub mod mail;
pub mod memory_ranker;
pub mod memory_vector;
pub mod memory_writer;
pub mod outbox;
pub mod retention;
pub mod search_index;
pub mod sweep;
pub mod thread_end;
