//! Which status a hook asks for, and how the status machine gets there.

use crate::session::{Command, Status};

/// The status that a hook speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The agent is at work.
    Running,
    /// A person has to answer before it goes on.
    WaitingHuman,
    /// It rests until the next prompt.
    Idle,
    /// It has ended.
    Completed,
}

impl Wanted {
    /// The status itself.
    pub const fn status(self) -> Status {
        match self {
            Self::Running => Status::Running,
            Self::WaitingHuman => Status::WaitingHuman,
            Self::Idle => Status::Idle,
            Self::Completed => Status::Completed,
        }
    }
}

/// When an event that says "at work" ends a wait for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// The agent itself went on.
    Always,
    /// A tool call ended. Calls run side by side: it ends the wait only if it is the call that was waited for.
    Call(String),
}

/// The commands that lead from one status to the wanted one, in order; none where nothing changes or nothing can.
pub(super) const fn steps(from: Status, wanted: Wanted) -> &'static [Command] {
    use Command::{Ask, Begin, Finish, Rest, Resume, Start};
    match (from, wanted) {
        (Status::Draft, Wanted::Running) => &[Start, Begin],
        (Status::Draft, Wanted::WaitingHuman) => &[Start, Begin, Ask],
        (Status::Draft, Wanted::Idle) => &[Start, Begin, Rest],
        (Status::Draft, Wanted::Completed) => &[Start, Begin, Finish],
        (Status::Pending | Status::Idle, Wanted::Running) => &[Begin],
        (Status::Pending | Status::Idle, Wanted::WaitingHuman) => &[Begin, Ask],
        (Status::Pending, Wanted::Idle) => &[Begin, Rest],
        (Status::Pending, Wanted::Completed) => &[Begin, Finish],
        (Status::Running, Wanted::WaitingHuman) => &[Ask],
        (Status::Running, Wanted::Idle) => &[Rest],
        (Status::Running | Status::WaitingHuman | Status::Idle, Wanted::Completed) => &[Finish],
        (Status::WaitingHuman | Status::AwaitingTool, Wanted::Running) => &[Resume, Begin],
        (Status::WaitingHuman | Status::AwaitingTool, Wanted::Idle) => &[Resume, Begin, Rest],
        (Status::AwaitingTool, Wanted::WaitingHuman) => &[Resume, Begin, Ask],
        (Status::AwaitingTool, Wanted::Completed) => &[Resume, Begin, Finish],
        (Status::Running, Wanted::Running)
        | (Status::WaitingHuman, Wanted::WaitingHuman)
        | (Status::Idle, Wanted::Idle)
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
            for wanted in [Wanted::Running, Wanted::WaitingHuman, Wanted::Idle, Wanted::Completed] {
                let mut state = Position { status: from, session_type: Type::Agent, attempt: 0, attempts_max: 3 };
                for command in steps(from, wanted) {
                    let step = decide(state, Actor::Server, *command).unwrap();
                    state = Position { status: step.to(), attempt: step.attempt, ..state };
                }
                assert_eq!((state.status, state.attempt), (wanted.status(), 0), "{from} to {wanted:?}");
            }
        }
    }

    #[test]
    fn a_final_session_is_left_alone() {
        for from in Status::ALL.into_iter().filter(|status| status.is_final()) {
            assert!(steps(from, Wanted::Running).is_empty() && steps(from, Wanted::Completed).is_empty());
        }
    }
}
