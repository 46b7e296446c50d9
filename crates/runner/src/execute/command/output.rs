//! What the output of a command means.

use super::super::adapter::Failure;
use domain::id::SessionId;
use wire::{Json, canvas::SendPatch, event::NewEvent, feedback_request::AskFeedback, worker::Progress};

/// What a line means.
#[derive(Debug)]
pub enum Parsed {
    /// An event to append.
    Event(NewEvent),
    /// The session's outcome; the last one counts.
    Result(Output),
    /// A request to people. Its attempt is not set.
    Ask(Box<AskFeedback>),
    /// How far the command is. Its attempt is not set.
    Progress(Progress),
    /// A change of this canvas.
    Patch(SessionId, Box<SendPatch>),
}

/// The outcome that a command reports.
#[derive(Debug, Default)]
pub struct Output {
    /// The result; `None` for none.
    pub result: Option<Json>,
    /// Tokens and cost, a JSON object.
    pub usage: Option<Json>,
    /// Why the agent failed, even if the command exits with 0.
    pub failure: Option<Failure>,
}
