//! Whether a session can be run again, and why not.

use crate::{
    action::ActionStatus,
    session::{Status, Type},
    thread::SOURCE,
};

/// Why a session cannot be run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAgain {
    /// It has not ended.
    NotEnded,
    /// It is a conversation.
    Conversation,
    /// It is no work that is given to an agent or a tool.
    NotQueued,
    /// Its action is archived.
    Archived,
}

impl NotAgain {
    /// The reason, for people.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotEnded => "it has not ended",
            Self::Conversation => "a conversation cannot be run again: start a new one",
            Self::NotQueued => "only work of agents and tools can be run again",
            Self::Archived => "this task is archived, so it cannot be run",
        }
    }
}

/// Whether a session of this type, source and status can be run again; `action` is how its action stands, where it has
/// one.
///
/// # Errors
/// The first reason against it.
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
    } else if !matches!(session_type, Type::Agent | Type::Tool) {
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
        assert_eq!(of(Type::Response, None, None), Err(NotAgain::NotQueued));
        assert_eq!(run_again(Type::Agent, None, Status::Running, None), Err(NotAgain::NotEnded));
    }
}
