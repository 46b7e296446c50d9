//! The writer pass: what a model may propose for an agent's memory after a conversation, and what the agent is given
//! of its memory at the next one.
//!
//! The model only proposes ([`answer`]). Everything else is decided here, without I/O: what an operation does to a
//! document ([`section`]), what is refused ([`check`]), what is known already ([`dedupe`]), whose words a line has
//! ([`support`]), what it contradicts ([`contradict`]), what a person has to review ([`plan`]), how a proposal is
//! joined with a document that has changed meanwhile ([`merge`]), what the model is shown ([`prompt`]) and what agents
//! are shown ([`telling`], [`select`], [`block`]). The names of what starts a run and of what comes of it are in
//! [`run`]. Documents themselves, their paths and versions are not part of this module.

/// The `source` of the sessions that hold the writer's proposals.
pub const SOURCE: &str = "memory";

pub mod answer;
pub mod block;
mod carry;
pub mod channel;
pub mod check;
pub mod contradict;
pub mod dedupe;
pub mod diff;
mod disguise;
pub mod evidence;
pub mod excerpt;
mod joiner;
pub mod limit;
mod markup;
pub mod merge;
pub mod plan;
pub mod prompt;
pub mod quote;
pub mod run;
pub mod section;
pub mod select;
pub mod slot;
pub mod support;
pub mod telling;
pub mod text;
pub mod turn;
