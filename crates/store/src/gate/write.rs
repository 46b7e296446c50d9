//! Inserts gates and saves changes of their state.

use super::state::Columns;
use crate::{
    engine::{Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    gate::{Gate, Principal, State, Verdict},
};

statements! {
    const INSERT: &str = "INSERT INTO gates (tenant_id, id, session_id, action_id, entity_id, agent_slug, kind, state, title, \
         task, task_digest, similar_key, criteria, score, flags, attempt, quorum, self_approval, requested_by, requester_id, opened_at, \
         order_at, due_at, remind_at, escalate_at, escalate_to, wake_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
         $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)";
    const SAVE: &str = "UPDATE gates SET state = $3, reminded_at = $4, escalated_at = $5, held_until = $6, settled_at = $7, \
         outcome = $8, wake_at = $9 WHERE tenant_id = $1 AND id = $2";
}

/// Inserts an open gate. Its session must be locked.
pub async fn insert(tx: &mut WriteTx<'_>, gate: &Gate) -> Result<()> {
    let flags = serde_json::Value::from(gate.flags.clone()).to_string();
    let task = gate.task.to_json().to_string();
    let escalate_to = gate.escalate_to.as_ref().map(Principal::to_string);
    run!(
        tx.conn(),
        execute,
        INSERT,
        gate.tenant_id.0,
        gate.id.0,
        gate.session_id.0,
        gate.action_id.map(|id| id.0),
        gate.entity_id.map(|id| id.0),
        gate.agent_slug.as_deref(),
        gate.kind.as_str(),
        gate.state.name().as_str(),
        gate.title.as_str(),
        task.as_str(),
        &gate.task_digest.0[..],
        gate.similar_key.as_str(),
        gate.criteria.as_deref(),
        gate.score,
        flags.as_str(),
        i64::from(gate.attempt),
        i64::from(gate.quorum),
        gate.self_approval,
        gate.requested_by.as_str(),
        gate.requester_id.map(|id| id.0),
        to_micros(gate.opened_at),
        gate.order_at,
        gate.due_at.map(to_micros),
        gate.remind_at.map(to_micros),
        gate.escalate_at.map(to_micros),
        escalate_to.as_deref(),
        wake_at(gate).map(to_micros),
    )?;
    Ok(())
}

/// The next time at which a sweep has to handle the gate.
fn wake_at(gate: &Gate) -> Option<Timestamp> {
    match gate.state {
        State::Held { until, .. } => Some(until),
        State::Open => {
            let remind = gate.remind_at.filter(|_| gate.reminded_at.is_none());
            let escalate = gate.escalate_at.filter(|_| gate.escalated_at.is_none());
            [gate.due_at, remind, escalate].into_iter().flatten().min()
        }
        State::Settled { .. } | State::Expired { .. } | State::Withdrawn { .. } => None,
    }
}

/// Saves the columns of a locked gate that can change: its state and times.
pub async fn save(tx: &mut WriteTx<'_>, gate: &Gate) -> Result<()> {
    let Columns { state, outcome, held_until, settled_at } = Columns::of(gate.state);
    run!(
        tx.conn(),
        execute,
        SAVE,
        gate.tenant_id.0,
        gate.id.0,
        state.as_str(),
        gate.reminded_at.map(to_micros),
        gate.escalated_at.map(to_micros),
        held_until.map(to_micros),
        settled_at.map(to_micros),
        outcome.map(Verdict::as_str),
        wake_at(gate).map(to_micros),
    )?;
    Ok(())
}
