//! What an agent is told when its session goes on: what was decided, and what was denied before.

use super::{decisions_of, proposed, standing};
use crate::{Result, SessionRecord};
use domain::{
    Timestamp,
    gate::{GateKind, GateState, OUTPUT_REJECTION_MAX, Task, Verdict},
    id::GateId,
};
use serde_json::{Map, Value};
use store::{Conn, DecisionRecord, GateRecord};

/// An output that was denied, and why.
#[derive(Debug, Clone)]
pub struct Denied {
    /// The gate.
    pub gate_id: GateId,
    /// Why.
    pub note: Option<String>,
    /// Who: an address, or the actor where it is not a person.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// With what a session goes on after its gate was decided.
#[derive(Debug, Clone)]
pub struct Resumed {
    /// The gate.
    pub gate_id: GateId,
    /// What was paused.
    pub kind: GateKind,
    /// Of a tool call.
    pub tool_call_id: Option<String>,
    /// Of a tool call.
    pub tool_name: Option<String>,
    /// What was decided.
    pub decision: Verdict,
    /// The arguments to call the tool with, as approved.
    pub tool_input: Option<Map<String, Value>>,
    /// What the reviewer said.
    pub note: Option<String>,
    /// JSON: the answer to a question, or the result given in place of a call.
    pub answer: Option<String>,
}

fn by(decision: &DecisionRecord) -> String {
    if decision.email.is_empty() { decision.actor.clone() } else { decision.email.clone() }
}

/// Denied outputs of a gate's session, oldest first, without the gate itself.
pub(super) async fn denials(conn: &mut Conn<'_>, gate: &GateRecord) -> store::Result<Vec<Denied>> {
    let gates = store::gate::denied(conn, gate.tenant_id, gate.session_id).await?;
    denied(conn, gates.into_iter().filter(|earlier| earlier.id != gate.id).collect()).await
}

async fn denied(conn: &mut Conn<'_>, gates: Vec<GateRecord>) -> store::Result<Vec<Denied>> {
    let Some(first) = gates.first() else { return Ok(Vec::new()) };
    let ids: Vec<GateId> = gates.iter().map(|gate| gate.id).collect();
    let mut decisions = store::gate::decisions(conn, first.tenant_id, &ids).await?;
    let told = gates.iter().filter_map(|gate| {
        let decisions = decisions.remove(&gate.id).unwrap_or_default();
        let last = standing(gate, &decisions).last?;
        let decision = decisions.into_iter().find(|d| d.number == last.number)?;
        Some(Denied { gate_id: gate.id, note: decision.note.clone(), by: by(&decision), at: decision.at })
    });
    Ok(told.collect())
}

/// The denials that the next attempt of a session is told of.
pub(crate) async fn denials_for_attempt(conn: &mut Conn<'_>, session: &SessionRecord) -> Result<Vec<Denied>> {
    // Nobody can have decided about a session that no worker has held.
    if session.attempt == 0 {
        return Ok(Vec::new());
    }
    let gates = store::gate::denied(conn, session.tenant_id, session.id).await?;
    debug_assert!(gates.len() < OUTPUT_REJECTION_MAX as usize, "a session that is denied that often has failed");
    Ok(denied(conn, gates).await?)
}

/// What was decided at the gate from which a queued session comes back; `None` where it comes from elsewhere.
pub(crate) async fn resume_context(conn: &mut Conn<'_>, session: &SessionRecord) -> Result<Option<Resumed>> {
    if session.attempt == 0 {
        return Ok(None);
    }
    let Some(gate) = store::gate::newest_of_session(conn, session.tenant_id, session.id).await? else {
        return Ok(None);
    };
    // A lost lease after the decision does not make the call happen again: it stays what the next attempt is told,
    // until the log has its result.
    if gate.state != GateState::Settled || matches!(gate.kind, GateKind::Output | GateKind::Fields) {
        return Ok(None);
    }
    let decisions = decisions_of(conn, &gate).await?;
    let standing = standing(&gate, &decisions);
    let Some(last) = standing.last.and_then(|last| decisions.iter().find(|d| d.number == last.number)) else {
        return Ok(None);
    };
    let Some(decision) = last.verdict else { return Ok(None) };
    let (tool_call_id, tool_name) = match &gate.task {
        Task::Tool(call) => (Some(call.tool_call_id.clone()), Some(call.tool_name.clone())),
        _ => (None, None),
    };
    let approved = matches!(decision, Verdict::Approve | Verdict::Edit);
    Ok(Some(Resumed {
        gate_id: gate.id,
        kind: gate.kind,
        tool_call_id,
        tool_name,
        decision,
        tool_input: if approved { proposed(&gate, &standing, &decisions)? } else { None },
        note: last.note.clone(),
        answer: last.value.clone().filter(|_| decision == Verdict::Respond),
    }))
}
