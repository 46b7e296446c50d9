//! `shiftbook chat`: a conversation with an agent in a terminal, over the HTTP API.
//!
//! [`ear`] hears what is typed, [`run`] leads the conversation, [`turn`] shows what the agent does, [`end`] asks and says
//! goodbye. Without a terminal, the lines of standard input are the messages.

mod args;
mod ear;
mod end;
mod run;
mod turn;
mod words;

pub use args::ChatArgs;
pub use run::run;
