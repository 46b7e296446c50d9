//! `shiftbook chat`: a conversation with an agent in a terminal, over the HTTP API.
//!
//! [`run`] is the main loop, [`input`] reads lines, [`turn`] shows what the agent does, [`end`] ends the conversation,
//! [`text`] has the texts and parses the typed text. Without a terminal, the lines of standard input are the messages.

mod args;
mod end;
mod input;
mod output;
mod run;
mod text;
mod turn;

pub use args::ChatArgs;
pub use run::run;
