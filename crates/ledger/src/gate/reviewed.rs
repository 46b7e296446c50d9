//! What reviewers made of what was proposed to them, for whoever learns from it.

use super::{decisions_of, proposed, standing};
use crate::{GateRecord, Result};
use domain::{
    Timestamp,
    gate::Verdict,
    id::{SessionId, TenantId},
};
use store::Conn;

/// Gates of one session that are looked at; with more, the oldest are as if they had not been.
const GATES_MAX: u32 = 100;

/// A decision that was carried out.
#[derive(Debug, Clone)]
pub(crate) struct Reviewed {
    /// The gate; no question.
    pub(crate) gate: GateRecord,
    /// What was decided.
    pub(crate) verdict: Verdict,
    /// What took the place of what was proposed, JSON in the form of [`domain::gate::Task::shown`].
    pub(crate) edited: Option<String>,
    /// When it was carried out.
    pub(crate) at: Timestamp,
}

/// What was decided in a session until `until`.
pub(crate) async fn reviewed(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    until: Timestamp,
) -> Result<Vec<Reviewed>> {
    let mut reviewed = Vec::new();
    for gate in store::gate::settled_of_session(conn, tenant_id, session_id, until, GATES_MAX).await? {
        let (Some(verdict), Some(at)) = (gate.outcome, gate.settled_at) else { continue };
        let edited = if verdict == Verdict::Deny {
            None
        } else {
            let decisions = decisions_of(conn, &gate).await?;
            let values = proposed(&gate, &standing(&gate, &decisions), &decisions)?;
            values.map(|values| gate.task.shown_with(&values)).filter(|after| *after != gate.task.shown())
        };
        reviewed.push(Reviewed { edited: edited.map(|after| after.to_string()), gate, verdict, at });
    }
    Ok(reviewed)
}
