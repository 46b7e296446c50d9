//! Hooks of coding agents: maps one payload to the event and the status of the agent's session.
//!
//! Claude Code, Codex and Gemini CLI call a hook at each step and pass it one JSON object. Shiftbook's plugins for
//! OpenCode, pi and OpenClaw make the same objects. [`read`] maps an object, whatever event it names.
//! [`ParsedHook::steps`] returns the commands that follow for a session with a given status. `ledger::hook` finds the
//! session and recognises repeated hooks; this module does neither.

mod event;
mod payload;
mod prompt;
mod reading;
mod source;
mod status;
mod text;
mod truncate;

pub use event::HookEvent;
pub use payload::{InvalidPayload, Payload};
pub use prompt::PromptOrigin;
pub use reading::{ParsedHook, read};
pub use source::Source;
pub use status::{ResumeRule, TargetStatus, Wait};
pub use truncate::{truncate_digested, truncate_payload, truncate_text};
