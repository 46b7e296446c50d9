//! Reviewers' decisions on proposals, for the capture of training data.

use super::{decision_state, decisions_of, proposed};
use crate::Result;
use domain::{
    Timestamp,
    gate::{Gate, State, Verdict},
    id::{SessionId, TenantId},
};
use store::Conn;

/// Largest number of gates read per session. If there are more, the oldest are left out.
const GATES_MAX: u32 = 100;

/// A decision that has taken effect.
#[derive(Debug, Clone)]
pub(crate) struct Reviewed {
    /// The gate. It is never a question.
    pub(crate) gate: Gate,
    /// What the reviewers decided.
    pub(crate) verdict: Verdict,
    /// The edited values that replaced the proposal, as JSON in the form of [`domain::gate::Task::bound_value`].
    pub(crate) edited: Option<String>,
    /// When the decision took effect (UTC).
    pub(crate) at: Timestamp,
}

/// Returns the decisions of people in a session that took effect until `until`. Decisions of rules are no one's
/// opinion.
pub(crate) async fn reviewed(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    until: Timestamp,
) -> Result<Vec<Reviewed>> {
    let mut reviewed = Vec::new();
    for gate in store::gate::settled_of_session(conn, tenant_id, session_id, until, GATES_MAX).await? {
        let State::Settled { verdict, at } = gate.state else { continue };
        let decisions = decisions_of(conn, &gate).await?;
        let decision_state = decision_state(&gate, &decisions);
        let last = decision_state.last.map(|vote| vote.number);
        if decisions.iter().any(|decision| Some(decision.number) == last && decision.is_by_rule()) {
            continue;
        }
        let edited = if verdict == Verdict::Deny {
            None
        } else {
            let values = proposed(&gate, &decision_state, &decisions)?;
            values.filter(|values| gate.task.is_changed_by(values)).map(|values| gate.task.bound_value_with(&values))
        };
        reviewed.push(Reviewed { edited: edited.map(|after| after.to_string()), gate, verdict, at });
    }
    Ok(reviewed)
}
