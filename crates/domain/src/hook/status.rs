//! The status that a hook asks for, and the commands that lead to it.

use crate::session::{Command, Status};
use serde::Deserialize;
use serde_json::Value;

/// What a session waits for from the hook of a tool server's question until that of its answer.
pub(super) const ELICITATION: &str = "elicitation";

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

/// What a session waits for, as the hook that asks recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Digest of the call that needs permission; `elicitation` for a tool server's question.
    pub call: String,
    /// Id of the subagent that asks; `None` if the agent itself asks.
    pub agent_id: Option<String>,
}

/// The members of a hook's metadata that say what the session waits for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WaitMembers {
    waits_for: Option<String>,
    #[serde(default)]
    fields: WaitFields,
}

/// Fields that the coding agent sent, of any type.
#[derive(Default, Deserialize)]
struct WaitFields {
    #[serde(default)]
    agent_id: Value,
}

impl Wait {
    /// Reads the metadata of a hook's event, the text of a JSON object. `None` if they do not name what the
    /// session waits for.
    pub fn read(metadata: &str) -> Option<Self> {
        let WaitMembers { waits_for, fields } = serde_json::from_str(metadata).ok()?;
        let agent_id = fields.agent_id.as_str().filter(|id| !id.is_empty()).map(str::to_owned);
        Some(Self { call: waits_for?, agent_id })
    }
}

/// Whether a hook with target status running ends a wait for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeRule {
    /// It always does: a person sent a prompt.
    Always,
    /// An agent went on. Subagents run concurrently, so it ends the wait only if this agent asked. Holds the id of
    /// the subagent; `None` for the agent itself.
    Agent(Option<String>),
    /// A tool call ended, or a tool server's question was answered. Calls run concurrently, so it ends the wait
    /// only if it is what the session waits for. Holds what [`Wait::call`] holds.
    Call(String),
}

impl ResumeRule {
    /// Whether a hook with this rule ends the wait.
    pub(super) fn ends(&self, wait: &Wait) -> bool {
        match self {
            Self::Always => true,
            Self::Agent(agent_id) => *agent_id == wait.agent_id,
            Self::Call(call) => *call == wait.call,
        }
    }
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
