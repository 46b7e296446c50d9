//! Gates of promotions: an output that the server itself prepared from a response, in a session that no worker claims.

use super::{
    announce::announce_gate,
    open::{check_output_safety, criteria_of, open, opened},
    settle_context::SettleContext,
};
use crate::{
    ActionRecord, Error, Result,
    commit::{Change, EventFactory, state, write},
};
use domain::{
    action::OutputType,
    criteria_set::SafetyGate,
    gate::{Gate, Staged, Task},
    id::GateId,
    issue::Issue,
    notification::Topic,
    response::PROMOTION_SOURCE,
    session::{Actor, Command, Report, Session, decide},
};
use serde_json::{Map, Value};
use store::{Conn, CriteriaSetRecord, DecisionRecord, PreparedEvent, Promotion, WriteTx};

/// An output that the safety rules of its action let pass.
pub(crate) struct Judged {
    output: Map<String, Value>,
    criteria: Vec<CriteriaSetRecord>,
    score: Option<f64>,
    flags: Vec<String>,
}

/// Evaluates the safety rules of an action on an output.
///
/// # Errors
/// [`Error::HardBlock`] if they block it.
pub(crate) async fn judge(
    conn: &mut Conn<'_>,
    action: &ActionRecord,
    session: &Session,
    output: Map<String, Value>,
) -> Result<Judged> {
    let criteria = criteria_of(conn, action, session).await?;
    let criteria = criteria.map_err(|reason| Error::HardBlock(Issue::new("actionId", reason)))?;
    match check_output_safety(action.output_type, &output, &criteria) {
        SafetyGate::Passed { score, flags } => Ok(Judged { output, criteria, score, flags }),
        blocked => Err(Error::HardBlock(Issue::new("answers", blocked.refusal().unwrap_or_default()))),
    }
}

/// Opens the gate of a judged output. Returns the event for the session's log. The caller pauses the session.
pub(crate) async fn stage_judged(
    tx: &mut WriteTx<'_>,
    session: &Session,
    (id, action): (GateId, &ActionRecord),
    judged: Judged,
    factory: &mut EventFactory,
) -> Result<PreparedEvent> {
    let Judged { output, criteria, score, flags } = judged;
    let staged = Staged { criteria_score: score, safety_flags: flags, ..Staged::of(Value::Object(output)) };
    let task = if action.output_type == OutputType::Fields { Task::Fields(staged) } else { Task::Output(staged) };
    let of = (super::AskedOf::default(), factory.at());
    let gate = open(tx, session, Some(action), (id, task), &criteria, of).await?;
    announce_gate(tx, factory, Topic::ApprovalRequested, &gate, None).await?;
    opened(&gate, factory)
}

/// Whether the server prepared the output of this session. Sessions of workers have been claimed.
pub(super) fn is_promotion(session: &Session) -> bool {
    session.attempt == 0 && session.source.as_deref() == Some(PROMOTION_SOURCE)
}

/// Records the entity that an approved promotion wrote, in the response.
pub(super) async fn record(
    tx: &mut WriteTx<'_>,
    session: &Session,
    decision: &DecisionRecord,
    written: &crate::output::Written,
    now: domain::Timestamp,
) -> Result<()> {
    let Some(entity) = written.0.first().filter(|_| is_promotion(session)) else { return Ok(()) };
    let to = Promotion { entity_id: entity.entity_id, by: decision.actor.clone(), at: now };
    store::response::promoted_by(tx, session.tenant_id, session.id, &to).await?;
    Ok(())
}

/// Ends a denied promotion. No agent can correct the output, so the session does not go back into the queue. The
/// response can be promoted again.
pub(super) async fn deny(
    tx: &mut WriteTx<'_>,
    session: Session,
    gate: &Gate,
    decision: &DecisionRecord,
    by: SettleContext,
) -> Result<Session> {
    let reason = format!("denied: {}", decision.note.as_deref().unwrap_or("no reason was given"));
    let transition = decide(state(&session), Actor::Server, Command::Finish)?;
    let (caller, factory) = (by.caller, by.factory);
    let change =
        Change { id: gate.session_id, actor: Actor::Server, command: Command::Finish, caller, reason, factory };
    write(tx, session, transition, change, Vec::new(), Report::default()).await
}
