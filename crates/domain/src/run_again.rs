//! The rule that says whether a session can be run again.

use crate::{
    action::ActionStatus,
    memory_writer, response,
    session::{Status, Type},
    thread::SOURCE,
};

/// The reason for which a session cannot be run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAgain {
    /// The session has not ended.
    NotEnded,
    /// The session is a conversation.
    Conversation,
    /// The session is not work of an agent or a tool.
    NotQueued,
    /// The session's action is archived.
    Archived,
}

impl NotAgain {
    /// Returns the reason as text for people.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotEnded => "it has not ended",
            Self::Conversation => "a conversation cannot be run again: start a new one",
            Self::NotQueued => "only work of agents and tools can be run again",
            Self::Archived => "this task is archived, so it cannot be run",
        }
    }
}

/// Checks whether a session of this type, source and status can be run again. `action` is the status of its
/// action; `None` for a session without one.
///
/// # Errors
/// The first [`NotAgain`] that applies, in the order of the enum.
pub fn run_again(
    session_type: Type,
    source: Option<&str>,
    status: Status,
    action: Option<ActionStatus>,
) -> Result<(), NotAgain> {
    if !status.is_final() {
        Err(NotAgain::NotEnded)
    } else if source == Some(SOURCE) {
        Err(NotAgain::Conversation)
    } else if !matches!(session_type, Type::Agent | Type::Tool)
        || matches!(source, Some(memory_writer::SOURCE | response::PROMOTION_SOURCE))
    {
        Err(NotAgain::NotQueued)
    } else if action == Some(ActionStatus::Archived) {
        Err(NotAgain::Archived)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_has_ended_is_run_again_unless_its_action_is_archived() {
        let of = |session_type, source, action| run_again(session_type, source, Status::Failed, action);
        assert_eq!(of(Type::Agent, None, Some(ActionStatus::Active)), Ok(()));
        assert_eq!(of(Type::Tool, Some("claude-code"), None), Ok(()));
        assert_eq!(of(Type::Agent, None, Some(ActionStatus::Archived)), Err(NotAgain::Archived));
        assert_eq!(of(Type::Agent, Some(SOURCE), None), Err(NotAgain::Conversation));
        assert_eq!(of(Type::Mixed, None, None), Err(NotAgain::NotQueued));
        assert_eq!(of(Type::Agent, Some(response::PROMOTION_SOURCE), None), Err(NotAgain::NotQueued));
        assert_eq!(of(Type::Response, None, None), Err(NotAgain::NotQueued));
        assert_eq!(run_again(Type::Agent, None, Status::Running, None), Err(NotAgain::NotEnded));
    }
}
