//! Carries a decision out: one transaction writes the output back, sets the session's next status and settles
//! the gate.

use super::{decision_state, decisions_of, memory, promotion, proposed, request};
use crate::{
    Error, Result,
    commit::{Change, state, write},
    output::{self, WriteBack},
};
use domain::{
    count::counted,
    event::kind::{Completed, Failure, SessionError},
    gate::{Gate, GateKind, OUTPUT_REJECTION_MAX, Verdict},
    limit::REASON_CHARS_MAX,
    session::{Actor, Command, Report, Session, decide},
};
use serde_json::{Map, Value};
use store::{DecisionRecord, WriteTx};

pub(super) use super::settle_context::SettleContext;

/// Code of a failure because of denials.
const REJECTED: &str = "rejected";

/// Carries out the decision of a locked gate. The session is locked too. The gate is settled in the same
/// transaction, so this happens only once.
///
/// # Errors
/// [`Error::OutputInvalid`] if the approved output cannot be written any more. The caller must roll the
/// transaction back.
pub(super) async fn settle(
    tx: &mut WriteTx<'_>,
    session: Session,
    mut gate: Gate,
    by: SettleContext,
) -> Result<Session> {
    let decisions = decisions_of(tx.conn(), &gate).await?;
    let decision_state = decision_state(&gate, &decisions);
    let last = decision_state.last.and_then(|last| decisions.iter().find(|d| d.number == last.number));
    let (Some(decision), Some(verdict)) = (last, decision_state.last.and_then(|last| last.verdict)) else {
        return Err(Error::Internal(format!("gate {} is decided and has no decision", gate.id)));
    };
    gate.state = gate.state.settle(verdict, by.minter.at())?;
    store::gate::save(tx, &gate).await?;
    request::record(tx, &gate, decision, by.details.clone(), by.minter.at()).await?;
    let writes = matches!(gate.kind, GateKind::Output | GateKind::Fields);
    if gate.kind == GateKind::Memory {
        let values = proposed(&gate, &decision_state, &decisions)?.unwrap_or_default();
        return memory::settle(tx, session, &gate, decision, (verdict, values), by).await;
    }
    match verdict {
        Verdict::Approve | Verdict::Edit if writes => {
            let values = proposed(&gate, &decision_state, &decisions)?.unwrap_or_default();
            write_back(tx, session, &gate, decision, values, by).await
        }
        Verdict::Deny if writes && promotion::is_promotion(&session) => {
            promotion::deny(tx, session, &gate, decision, by).await
        }
        Verdict::Deny if writes => deny(tx, session, &gate, decision, by).await,
        _ => {
            let reason = match verdict {
                Verdict::Approve => "approved",
                Verdict::Edit => "approved with changes",
                Verdict::Deny => "denied",
                Verdict::Respond => "answered",
            };
            requeue(tx, session, by, reason.into()).await
        }
    }
}

fn change(session: &Session, command: Command, by: SettleContext, reason: String) -> Change {
    let (caller, minter) = (by.caller, by.minter);
    Change { id: session.id, actor: Actor::Server, command, caller, reason, minter }
}

async fn requeue(tx: &mut WriteTx<'_>, session: Session, by: SettleContext, reason: String) -> Result<Session> {
    let change = change(&session, Command::Resume, by, reason);
    let transition = decide(state(&session), Actor::Server, Command::Resume)?;
    write(tx, session, transition, change, Vec::new(), Report::default()).await
}

async fn write_back(
    tx: &mut WriteTx<'_>,
    session: Session,
    gate: &Gate,
    decision: &DecisionRecord,
    values: Map<String, Value>,
    mut by: SettleContext,
) -> Result<Session> {
    let action = match gate.action_id {
        Some(id) => store::action::find(tx.conn(), gate.tenant_id, id).await?,
        None => None,
    };
    let action = action.ok_or_else(|| Error::Internal(format!("gate {} has staged output and no action", gate.id)))?;
    let now = by.minter.at();
    let output = gate.task.output(values);
    // The new version records the person who approved it as its author.
    let back =
        WriteBack { action: &action, session: &session, output: &output, actor: &decision.actor, minter: &by.minter };
    let written = output::write_back(tx, back).await?;
    promotion::record(tx, &session, decision, &written, now).await?;
    let reason = if written.0.is_empty() { "its output was approved" } else { "its output was approved and written" };
    let completed = Completed {
        gate_id: Some(gate.id),
        attempt: Some(session.attempt),
        has_result: !output.is_null(),
        approved_by: Some(decision.actor.clone()),
        written: Some(written.0),
        ..Completed::default()
    };
    let events = vec![by.minter.event(&completed)];
    let change = change(&session, Command::Approve, by, reason.into());
    let transition = decide(state(&session), Actor::Server, Command::Approve)?;
    let result = (!output.is_null()).then(|| output.to_string());
    write(tx, session, transition, change, events, Report { result, ..Report::default() }).await
}

async fn deny(
    tx: &mut WriteTx<'_>,
    session: Session,
    gate: &Gate,
    decision: &DecisionRecord,
    mut by: SettleContext,
) -> Result<Session> {
    // The count includes this gate, which is settled already.
    let denials = store::gate::denied(tx.conn(), gate.tenant_id, gate.session_id).await?.len();
    let why = decision.note.as_deref().unwrap_or("no reason was given");
    if (denials as u64) < u64::from(OUTPUT_REJECTION_MAX) {
        let reason = format!("denied ({denials} of {OUTPUT_REJECTION_MAX}): {why}");
        return requeue(tx, session, by, reason).await;
    }
    let message = format!("Its output was denied {}. The last reason: {why}", counted(denials as u64, "time"));
    let message: String = message.chars().take(REASON_CHARS_MAX).collect();
    let failure = Failure::Rejected { gate_id: gate.id, code: REJECTED.into(), denials };
    let event = by.minter.event(&SessionError::new(&message, failure));
    let change = change(&session, Command::Deny, by, format!("denied {}", counted(denials as u64, "time")));
    let transition = decide(state(&session), Actor::Server, Command::Deny)?;
    write(tx, session, transition, change, vec![event], Report::error(message, REJECTED)).await
}
