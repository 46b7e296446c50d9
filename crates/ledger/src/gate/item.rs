//! A gate as it is shown to a caller.

use super::{by_role, decision_state, proposed};
use crate::Result;
use domain::{
    Scope, Timestamp,
    chain::Digest,
    gate::{ByRole, Gate},
    id::{GateId, GroupId, SessionId},
};
use serde_json::{Map, Value};
use std::collections::HashMap;
use store::{Conn, DecisionRecord, ReviewerRecord};

/// Whether the caller may decide a gate, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayDecide {
    /// The caller may decide.
    Yes,
    /// The caller is a token. Only signed-in people decide.
    NotAPerson,
    /// The caller is not one of the reviewers.
    NotAReviewer,
    /// The caller started the session, and its action forbids self-approval.
    OwnRequest,
    /// The gate is decided or closed.
    NotOpen,
}

impl MayDecide {
    /// Returns the reason as a text for people; `None` for [`Self::Yes`].
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Yes => None,
            Self::NotAPerson => Some("only a person who is signed in can decide; a token cannot"),
            Self::NotAReviewer => Some("only the reviewers of this item can decide it"),
            Self::OwnRequest => Some("you started this session, and its task requires that someone else decides"),
            Self::NotOpen => Some("it is not waiting for a decision any more"),
        }
    }
}

/// A gate with everything that a list shows of it.
#[derive(Debug, Clone)]
pub struct GateItem {
    /// The gate as it is recorded.
    pub gate: Gate,
    /// Who may decide.
    pub reviewers: Vec<ReviewerRecord>,
    /// Every decision, oldest first.
    pub decisions: Vec<DecisionRecord>,
    /// Number of the last decision that counts.
    pub last: Option<u32>,
    /// Number of approvals of the present proposal.
    pub approvals: u32,
    /// The values that would take effect now.
    pub proposed: Option<Map<String, Value>>,
    /// Digest of the present proposal.
    pub digest: Digest,
    /// Whether the caller may decide, or why not.
    pub may_decide: MayDecide,
    /// Whether the caller has approved the present proposal.
    pub is_approved_by_caller: bool,
    /// End of the caller's snooze; `None` if the caller has not snoozed the gate.
    pub snoozed_until: Option<Timestamp>,
    /// When it expires: at its own deadline, or with its session if that one has a closer time limit.
    pub due_at: Option<Timestamp>,
}

impl GateItem {
    /// Returns the last decision that counts, if there is one.
    pub fn decision(&self) -> Option<&DecisionRecord> {
        self.decisions.iter().find(|d| Some(d.number) == self.last)
    }
}

/// When an open gate expires: at its own deadline, or with its session if that one has a closer time limit.
pub(super) async fn due_at(conn: &mut Conn<'_>, gate: &Gate) -> store::Result<Option<Timestamp>> {
    let deadlines = store::session::deadlines(conn, gate.tenant_id, &[gate.session_id]).await?;
    Ok(earliest(gate, &deadlines))
}

fn earliest(gate: &Gate, deadlines: &HashMap<SessionId, Timestamp>) -> Option<Timestamp> {
    gate.due_at.into_iter().chain(deadlines.get(&gate.session_id).copied()).min()
}

/// Gates with their related rows.
pub(super) struct Loaded {
    gates: Vec<Gate>,
    reviewers: HashMap<GateId, Vec<ReviewerRecord>>,
    decisions: HashMap<GateId, Vec<DecisionRecord>>,
    groups: Vec<GroupId>,
    snoozes: HashMap<GateId, Timestamp>,
    deadlines: HashMap<SessionId, Timestamp>,
}

/// Loads the related rows of the gates. The number of queries does not depend on the number of gates.
pub(super) async fn load(
    conn: &mut Conn<'_>,
    scope: &Scope,
    gates: Vec<Gate>,
    now: Timestamp,
) -> store::Result<Loaded> {
    let ids: Vec<GateId> = gates.iter().map(|gate| gate.id).collect();
    let tenant_id = scope.tenant_id;
    let (groups, snoozes) = match scope.user_id() {
        Some(user_id) => (
            store::group::ids_of(conn, tenant_id, user_id).await?,
            store::gate::snoozed_until(conn, tenant_id, &ids, user_id, now).await?,
        ),
        None => (Vec::new(), HashMap::new()),
    };
    let waiting: Vec<SessionId> =
        gates.iter().filter(|gate| gate.state.is_open()).map(|gate| gate.session_id).collect();
    Ok(Loaded {
        deadlines: store::session::deadlines(conn, tenant_id, &waiting).await?,
        reviewers: store::gate::reviewers(conn, tenant_id, &ids).await?,
        decisions: store::gate::decisions(conn, tenant_id, &ids).await?,
        groups,
        snoozes,
        gates,
    })
}

impl Loaded {
    /// Returns the gates as this caller sees them, in the same order.
    pub(super) fn items(self, scope: &Scope) -> Result<Vec<GateItem>> {
        let Self { gates, mut reviewers, mut decisions, groups, snoozes, deadlines } = self;
        let see = |gate: Gate| {
            let reviewers = reviewers.remove(&gate.id).unwrap_or_default();
            let decisions = decisions.remove(&gate.id).unwrap_or_default();
            let decision_state = decision_state(&gate, &decisions);
            let is_reviewer = reviewers.iter().any(|reviewer| match reviewer {
                ReviewerRecord::User { id, .. } => Some(*id) == scope.user_id(),
                ReviewerRecord::Group { id, .. } => groups.contains(id),
                ReviewerRecord::Anyone => by_role(scope) >= ByRole::Anyones,
                ReviewerRecord::Admins => by_role(scope) >= ByRole::Admins,
            });
            Ok(GateItem {
                is_approved_by_caller: scope
                    .user_id()
                    .is_some_and(|user_id| decision_state.approvals.contains(&user_id)),
                proposed: proposed(&gate, &decision_state, &decisions)?,
                digest: decision_state.digest,
                approvals: u32::try_from(decision_state.approvals.len()).unwrap_or(u32::MAX),
                last: decision_state.last.map(|vote| vote.number),
                may_decide: may_decide(scope, &gate, is_reviewer),
                snoozed_until: snoozes.get(&gate.id).copied(),
                due_at: earliest(&gate, &deadlines),
                gate,
                reviewers,
                decisions,
            })
        };
        gates.into_iter().map(see).collect()
    }

    /// Returns the only gate.
    pub(super) fn item(self, scope: &Scope) -> Result<GateItem> {
        self.items(scope)?.pop().ok_or_else(super::not_found)
    }
}

/// Returns whether the caller may decide. Both the display and the check of a decision use this rule.
pub(super) fn may_decide(scope: &Scope, gate: &Gate, is_reviewer: bool) -> MayDecide {
    let Some(user_id) = scope.user_id() else { return MayDecide::NotAPerson };
    if !is_reviewer {
        MayDecide::NotAReviewer
    } else if !gate.self_approval && gate.requester_id == Some(user_id) {
        MayDecide::OwnRequest
    } else if !gate.state.is_open() {
        MayDecide::NotOpen
    } else {
        MayDecide::Yes
    }
}
