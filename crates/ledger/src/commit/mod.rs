//! Commits a session's change: the row, its events and the effects of a new status, in one transaction.
//!
//! Use cases decide a command and pass the transition to [`write`]. Effects are values ([`effect::Effect`]):
//! gates to close, a turn to capture, a failure to record, sessions and webhooks to notify. This module depends
//! on no use case, so every use case may use it.

pub(crate) mod bound_row;
pub(crate) mod cause;
mod change;
pub(crate) mod effect;
mod minter;
mod turn;

pub(crate) use change::{
    Change, append_server_events, completed_alone, insert_completed, state, write, write_with_title,
};
pub(crate) use minter::Minter;
pub use turn::is_thread;
pub(crate) use turn::{has_answered, is_dialogue, is_reported};
