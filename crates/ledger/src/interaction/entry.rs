//! Messages of a session's log from which turns are built.

use domain::Timestamp;

/// Side of the conversation that wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageAuthor {
    /// The person or program that started the session.
    User,
    /// The agent that works on the session.
    Agent,
}

/// A prompt or an answer, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TurnMessage {
    /// Side of the conversation that wrote the message.
    pub by: MessageAuthor,
    /// Text of the message, without content that is no text.
    pub text: String,
}

/// A message with its position in the log.
pub(super) struct Entry {
    pub sequence: u64,
    pub at: Timestamp,
    pub message: TurnMessage,
}
