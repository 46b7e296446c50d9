//! Coding agents' hooks: what one payload says about the agent's session, as events and a wanted status.
//!
//! Claude Code and Codex call a hook at each step and hand it one JSON object. [`read`] maps it, whatever
//! event it names, and [`ParsedHook::steps`] says which commands follow for a session in a status.
//! Deliberately not here: finding the session, and deciding whether a repeat is one. `ledger::hook` does that.

mod event;
mod payload;
mod reading;
mod source;
mod status;
mod text;
mod truncate;

pub use event::HookEvent;
pub use payload::{InvalidPayload, Payload};
pub use reading::{ParsedHook, read};
pub use source::Source;
pub use status::{ResumeRule, TargetStatus};
pub use truncate::{truncate_payload, truncate_text};
