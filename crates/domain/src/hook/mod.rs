//! Coding agents' hooks: what one payload says about the agent's session, as events and a wanted status.
//!
//! Claude Code and Codex call a hook at each step and hand it one JSON object. [`read`] maps it, whatever
//! event it names, and [`Reading::steps`] says which commands follow for a session in a status.
//! Deliberately not here: finding the session, and deciding whether a repeat is one. `ledger::hook` does that.

mod cut;
mod event;
mod payload;
mod reading;
mod source;
mod status;
mod words;

pub use cut::{cut_payload, cut_text};
pub use event::HookEvent;
pub use payload::{InvalidPayload, Payload};
pub use reading::{Reading, read};
pub use source::Source;
pub use status::{Release, Wanted};
