//! The status that a hook asks for, and the commands that lead to it.

use crate::session::{Command, Status};

/// The status that a hook asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetStatus {
    /// The agent works.
    Running,
    /// The agent waits for a person's answer.
    WaitingHuman,
    /// The agent waits for the next prompt.
    Idle,
    /// The agent's session has ended.
    Completed,
}

impl TargetStatus {
    /// The corresponding status of a session.
    pub const fn status(self) -> Status {
        match self {
            Self::Running => Status::Running,
            Self::WaitingHuman => Status::WaitingHuman,
            Self::Idle => Status::Idle,
            Self::Completed => Status::Completed,
        }
    }
}

/// Whether a hook with target status running ends a wait for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeRule {
    /// It always does, because the agent itself continued.
    Always,
    /// A tool call ended. Calls run concurrently, so it ends the wait only if it is the call that the session
    /// waits for. Holds the digest of the call.
    Call(String),
}

/// Returns the commands that lead from one status to another, in order. There are none if the status is the
/// same or final.
pub(super) const fn steps(from: Status, target: TargetStatus) -> &'static [Command] {
    use Command::{Ask, Begin, Finish, Rest, Resume, Start};
    match (from, target) {
        (Status::Draft, TargetStatus::Running) => &[Start, Begin],
        (Status::Draft, TargetStatus::WaitingHuman) => &[Start, Begin, Ask],
        (Status::Draft, TargetStatus::Idle) => &[Start, Begin, Rest],
        (Status::Draft, TargetStatus::Completed) => &[Start, Begin, Finish],
        (Status::Pending | Status::Idle, TargetStatus::Running) => &[Begin],
        (Status::Pending | Status::Idle, TargetStatus::WaitingHuman) => &[Begin, Ask],
        (Status::Pending, TargetStatus::Idle) => &[Begin, Rest],
        (Status::Pending, TargetStatus::Completed) => &[Begin, Finish],
        (Status::Running, TargetStatus::WaitingHuman) => &[Ask],
        (Status::Running, TargetStatus::Idle) => &[Rest],
        (Status::Running | Status::WaitingHuman | Status::Idle, TargetStatus::Completed) => &[Finish],
        (Status::WaitingHuman | Status::AwaitingTool, TargetStatus::Running) => &[Resume, Begin],
        (Status::WaitingHuman | Status::AwaitingTool, TargetStatus::Idle) => &[Resume, Begin, Rest],
        (Status::AwaitingTool, TargetStatus::WaitingHuman) => &[Resume, Begin, Ask],
        (Status::AwaitingTool, TargetStatus::Completed) => &[Resume, Begin, Finish],
        (Status::Running, TargetStatus::Running)
        | (Status::WaitingHuman, TargetStatus::WaitingHuman)
        | (Status::Idle, TargetStatus::Idle)
        | (Status::Completed | Status::Failed | Status::Abandoned | Status::Expired, _) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Actor, Position, Type, decide};

    #[test]
    fn the_steps_lead_to_the_wanted_status_from_every_status_that_is_not_final() {
        for from in Status::ALL.into_iter().filter(|status| !status.is_final()) {
            for target in
                [TargetStatus::Running, TargetStatus::WaitingHuman, TargetStatus::Idle, TargetStatus::Completed]
            {
                let mut state = Position { status: from, session_type: Type::Agent, attempt: 0, attempts_max: 3 };
                for command in steps(from, target) {
                    let step = decide(state, Actor::Server, *command).unwrap();
                    state = Position { status: step.to(), attempt: step.attempt, ..state };
                }
                assert_eq!((state.status, state.attempt), (target.status(), 0), "{from} to {target:?}");
            }
        }
    }

    #[test]
    fn a_final_session_is_left_alone() {
        for from in Status::ALL.into_iter().filter(|status| status.is_final()) {
            assert!(steps(from, TargetStatus::Running).is_empty() && steps(from, TargetStatus::Completed).is_empty());
        }
    }
}
