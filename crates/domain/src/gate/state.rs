//! The gate record, and its state with the data that only this state has.

use super::{GateKind, GateState, Principal, Task, Verdict};
use crate::{
    Timestamp,
    chain::Digest,
    id::{ActionId, EntityId, GateId, SessionId, TenantId, UserId},
};

/// A pause that waits, or waited, for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Workspace of the session.
    pub tenant_id: TenantId,
    /// Identifies the gate.
    pub id: GateId,
    /// The session that waits.
    pub session_id: SessionId,
    /// The action that the session executes.
    pub action_id: Option<ActionId>,
    /// The entity that an approval would write.
    pub entity_id: Option<EntityId>,
    /// Slug of the session's agent.
    pub agent_slug: Option<String>,
    /// What is paused.
    pub kind: GateKind,
    /// Present state, with the data that belongs to it.
    pub state: State,
    /// Title shown to reviewers.
    pub title: String,
    /// The paused call, the staged output or the question.
    pub task: Task,
    /// Digest of the task that was shown to the reviewers.
    pub task_digest: Digest,
    /// Key that similar gates share; empty after erasure.
    pub similar_key: String,
    /// The criteria set that evaluated the output, with its dimensions, as JSON.
    pub criteria: Option<String>,
    /// Mean score of the chosen options.
    pub score: Option<f64>,
    /// Points that reviewers should check carefully.
    pub flags: Vec<String>,
    /// The attempt of the session that opened the gate.
    pub attempt: u32,
    /// Number of approvals needed.
    pub quorum: u32,
    /// Whether the person who requested the session may decide.
    pub self_approval: bool,
    /// Who requested the session: `user:…`, `token:…` or `system`.
    pub requested_by: String,
    /// The person who requested the session, if a person did. For a private session only if `self_approval` is false.
    pub requester_id: Option<UserId>,
    /// Time the gate was opened (UTC).
    pub opened_at: Timestamp,
    /// Sort key in an inbox: the deadline in microseconds, or the largest value if there is none.
    pub order_at: i64,
    /// Time the gate expires (UTC).
    pub due_at: Option<Timestamp>,
    /// Time to remind the reviewers (UTC).
    pub remind_at: Option<Timestamp>,
    /// Time the reviewers were reminded (UTC).
    pub reminded_at: Option<Timestamp>,
    /// Time from which `escalate_to` may decide as well (UTC).
    pub escalate_at: Option<Timestamp>,
    /// Who becomes a reviewer on escalation.
    pub escalate_to: Option<Principal>,
    /// Time of the escalation (UTC).
    pub escalated_at: Option<Timestamp>,
    /// Current name of the action.
    pub action_name: Option<String>,
    /// Current title of the entity.
    pub entity_title: Option<String>,
}

/// The state of a gate, with the data that only this state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The gate waits for reviewers.
    Open,
    /// The gate is decided. The effect is delayed so that the decision can be undone.
    Held {
        /// Verdict of the decision.
        verdict: Verdict,
        /// Time the decision takes effect (UTC).
        until: Timestamp,
    },
    /// The gate is decided and the decision has taken effect.
    Settled {
        /// Verdict of the decision.
        verdict: Verdict,
        /// Time the decision took effect (UTC).
        at: Timestamp,
    },
    /// The time of the gate or of its session ran out before a decision took effect.
    Expired {
        /// Verdict of a decision that had not taken effect; `None` if there was none.
        verdict: Option<Verdict>,
        /// Time the gate was closed (UTC).
        at: Timestamp,
    },
    /// The session ended before a decision took effect.
    Withdrawn {
        /// Verdict of a decision that had not taken effect; `None` if there was none.
        verdict: Option<Verdict>,
        /// Time the gate was closed (UTC).
        at: Timestamp,
    },
}

/// Why a gate is closed without an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// The time of the gate or of its session ran out.
    Expired,
    /// The session ended otherwise.
    Withdrawn,
}

/// A gate that is settled, expired or withdrawn does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the gate is {0}")]
pub struct GateClosed(pub GateState);

impl State {
    /// The name of the state.
    pub const fn name(self) -> GateState {
        match self {
            Self::Open => GateState::Open,
            Self::Held { .. } => GateState::Held,
            Self::Settled { .. } => GateState::Settled,
            Self::Expired { .. } => GateState::Expired,
            Self::Withdrawn { .. } => GateState::Withdrawn,
        }
    }

    /// Whether the gate waits for reviewers.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Open)
    }

    /// Verdict of the decision; `None` if the gate is not decided.
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Open => None,
            Self::Held { verdict, .. } | Self::Settled { verdict, .. } => Some(verdict),
            Self::Expired { verdict, .. } | Self::Withdrawn { verdict, .. } => verdict,
        }
    }

    /// Time the decision takes effect (UTC); until then it can be undone. `None` unless the gate is held.
    pub const fn held_until(self) -> Option<Timestamp> {
        match self {
            Self::Held { until, .. } => Some(until),
            Self::Open | Self::Settled { .. } | Self::Expired { .. } | Self::Withdrawn { .. } => None,
        }
    }

    /// Time the gate was settled, expired or withdrawn (UTC).
    pub const fn settled_at(self) -> Option<Timestamp> {
        match self {
            Self::Settled { at, .. } | Self::Expired { at, .. } | Self::Withdrawn { at, .. } => Some(at),
            Self::Open | Self::Held { .. } => None,
        }
    }

    /// The state after a decision with this verdict, which takes effect at `until`.
    ///
    /// # Errors
    /// [`GateClosed`] unless the gate is open.
    pub const fn hold(self, verdict: Verdict, until: Timestamp) -> Result<Self, GateClosed> {
        match self {
            Self::Open => Ok(Self::Held { verdict, until }),
            Self::Held { .. } | Self::Settled { .. } | Self::Expired { .. } | Self::Withdrawn { .. } => {
                Err(GateClosed(self.name()))
            }
        }
    }

    /// The state after a decision with this verdict took effect. An answer to a question takes effect at once, so
    /// its gate is not held before.
    ///
    /// # Errors
    /// [`GateClosed`] unless the gate is open or held.
    pub const fn settle(self, verdict: Verdict, at: Timestamp) -> Result<Self, GateClosed> {
        match self {
            Self::Open | Self::Held { .. } => Ok(Self::Settled { verdict, at }),
            Self::Settled { .. } | Self::Expired { .. } | Self::Withdrawn { .. } => Err(GateClosed(self.name())),
        }
    }

    /// The state after the newest decision was undone.
    ///
    /// # Errors
    /// [`GateClosed`] unless the gate is open or held.
    pub const fn reopen(self) -> Result<Self, GateClosed> {
        match self {
            Self::Open | Self::Held { .. } => Ok(Self::Open),
            Self::Settled { .. } | Self::Expired { .. } | Self::Withdrawn { .. } => Err(GateClosed(self.name())),
        }
    }

    /// The state after the gate was closed without an effect. It keeps the verdict of a decision that was held.
    ///
    /// # Errors
    /// [`GateClosed`] unless the gate is open or held.
    pub const fn close(self, reason: CloseReason, at: Timestamp) -> Result<Self, GateClosed> {
        match (self, reason) {
            (Self::Open | Self::Held { .. }, CloseReason::Expired) => Ok(Self::Expired { verdict: self.verdict(), at }),
            (Self::Open | Self::Held { .. }, CloseReason::Withdrawn) => {
                Ok(Self::Withdrawn { verdict: self.verdict(), at })
            }
            (
                Self::Settled { .. } | Self::Expired { .. } | Self::Withdrawn { .. },
                CloseReason::Expired | CloseReason::Withdrawn,
            ) => Err(GateClosed(self.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::from_micros;

    fn all() -> [State; 7] {
        let (verdict, at) = (Verdict::Edit, from_micros(5));
        [
            State::Open,
            State::Held { verdict, until: at },
            State::Settled { verdict, at },
            State::Expired { verdict: None, at },
            State::Expired { verdict: Some(verdict), at },
            State::Withdrawn { verdict: None, at },
            State::Withdrawn { verdict: Some(verdict), at },
        ]
    }

    #[test]
    fn only_an_open_or_held_gate_changes() {
        let (deny, at) = (Verdict::Deny, from_micros(9));
        for state in all() {
            let closed = GateClosed(state.name());
            let waits = matches!(state.name(), GateState::Open | GateState::Held);
            let or_closed = |next: State| if waits { Ok(next) } else { Err(closed) };
            let held = if state.is_open() { Ok(State::Held { verdict: deny, until: at }) } else { Err(closed) };
            assert_eq!(state.hold(deny, at), held, "{state:?}");
            assert_eq!(state.settle(deny, at), or_closed(State::Settled { verdict: deny, at }), "{state:?}");
            assert_eq!(state.reopen(), or_closed(State::Open), "{state:?}");
            let verdict = state.verdict();
            assert_eq!(state.close(CloseReason::Expired, at), or_closed(State::Expired { verdict, at }), "{state:?}");
            assert_eq!(
                state.close(CloseReason::Withdrawn, at),
                or_closed(State::Withdrawn { verdict, at }),
                "{state:?}"
            );
        }
    }
}
