//! Timed changes of gates: effects after the undo window, reminders, escalations and deadlines.

use super::{
    announce::announce_gate,
    decision_event::decision_event,
    decision_state, decisions_of,
    open::reviewer,
    request,
    settle::{SettleContext, settle},
};
use crate::{
    Error, Ledger, Result,
    commit::{Change, Minter, append_server_events, state, write},
    memory::Stamp,
};
use domain::{
    Caller, Scope, Timestamp,
    event::kind::{NoticeReason, WaitingApproval},
    feedback_request::OnExpiry,
    gate::{CloseReason, Gate, State},
    id::RequestAnswerId,
    notification::Topic,
    session::{Actor, Command, Report, Session, decide},
};
use store::{Access, DecisionRecord, WriteTx, gate::Place};

/// Largest number of gates that one sweep handles.
const BATCH: u32 = 200;

/// Counts of one sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Decisions that took effect.
    pub settled: u64,
    /// Decisions that could not be carried out any more. Their gates are open again.
    pub reopened: u64,
    /// Gates that expired without a decision.
    pub expired: u64,
    /// Gates whose reviewers were reminded.
    pub reminded: u64,
    /// Gates for which further reviewers were asked.
    pub escalated: u64,
}

/// Handles gates that are due. Safe to run on several servers at once: each gate is checked again under its
/// session's lock.
///
/// # Errors
/// The error of the last gate that failed. It does not stop the others. A decision that is refused when it is carried
/// out is no error: its gate is opened again.
pub async fn sweep(ledger: &Ledger) -> Result<Swept> {
    let (mut swept, mut failure) = (Swept::default(), None);
    let now = ledger.now();
    let read = ledger.store().read(Access::System, async move |conn| store::gate::to_wake(conn, now, BATCH).await);
    for place in read.await? {
        match wake(ledger, place).await {
            Ok(Some(done)) => done.count(&mut swept),
            Ok(None) => {}
            Err(error) => match reopen_refused(ledger, place, error).await {
                Ok(()) => swept.reopened += 1,
                // An error of one gate does not stop the others.
                Err(error) => failure = Some(error),
            },
        }
    }
    failure.map_or(Ok(swept), Err)
}

/// Opens a gate again whose decision was refused when it was carried out, because it needs a new review.
///
/// # Errors
/// `error` itself if it is no refusal, or if the gate does not hold a decision.
async fn reopen_refused(ledger: &Ledger, place: Place, error: Error) -> Result<()> {
    let Some(why) = refusal(&error) else { return Err(error) };
    if reopen(ledger, place, why).await? { Ok(()) } else { Err(error) }
}

/// Returns the reason of a refusal, which is the same at every repeat. `None` for failures of the database and bugs,
/// after which the sweep tries again.
fn refusal(error: &Error) -> Option<String> {
    match error {
        Error::Unavailable(_) | Error::Unusable(_) | Error::Internal(_) => None,
        Error::Invalid(errors) | Error::OutputInvalid { errors, .. } => {
            Some(errors.first().map_or_else(|| error.to_string(), |e| format!("{}: {}", e.field, e.message)))
        }
        _ => Some(error.to_string()),
    }
}

/// What was done to a gate.
enum Done {
    Settled,
    Expired,
    Reminded,
    Escalated,
}

impl Done {
    fn count(&self, swept: &mut Swept) {
        match self {
            Self::Settled => swept.settled += 1,
            Self::Expired => swept.expired += 1,
            Self::Reminded => swept.reminded += 1,
            Self::Escalated => swept.escalated += 1,
        }
    }
}

async fn wake(ledger: &Ledger, place: Place) -> Result<Option<Done>> {
    let Place { tenant_id, id, session_id } = place;
    let scope = Scope::system(tenant_id);
    let now = ledger.now();
    let minter = Minter::new(ledger, now);
    let stamp = Stamp::new(ledger);
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(session) = store::session::find_locked(tx, tenant_id, session_id).await? else {
                return Ok(None);
            };
            let Some(gate) = store::gate::find_locked(tx, tenant_id, id).await? else { return Ok(None) };
            let passed = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
            match gate.state {
                State::Held { until, .. } if until <= now => {
                    let stamp = Some(stamp);
                    let by = SettleContext { caller: Caller::System, minter, details: None, stamp };
                    settle(tx, session, gate, by).await?;
                    Ok(Some(Done::Settled))
                }
                State::Open if passed(gate.due_at) => {
                    expire(tx, session, gate, minter).await?;
                    Ok(Some(Done::Expired))
                }
                State::Open if gate.escalated_at.is_none() && passed(gate.escalate_at) => {
                    escalate(tx, session, gate, minter).await?;
                    Ok(Some(Done::Escalated))
                }
                State::Open if gate.reminded_at.is_none() && passed(gate.remind_at) => {
                    remind(tx, session, gate, minter).await?;
                    Ok(Some(Done::Reminded))
                }
                State::Open
                | State::Held { .. }
                | State::Settled { .. }
                | State::Expired { .. }
                | State::Withdrawn { .. } => Ok(None),
            }
        })
        .await
}

/// Closes a gate whose time ran out. The session expires, unless the request that opened the gate lets the agent
/// continue without an answer.
async fn expire(tx: &mut WriteTx<'_>, session: Session, mut gate: Gate, minter: Minter) -> Result<()> {
    let asked = request::of_gate(tx, &gate).await?;
    let transition = decide(state(&session), Actor::Server, Command::Expire)?;
    let (id, actor, caller) = (session.id, Actor::Server, Caller::System);
    let Some(asked) = asked else {
        let reason = "no one decided in time".into();
        let change = Change { id, actor, command: Command::Expire, caller, reason, minter };
        let report = Report::error("No one decided in time.", "approval_expired");
        write(tx, session, transition, change, Vec::new(), report).await?;
        return Ok(());
    };
    let reason = "no one answered in time".into();
    if asked.on_expiry == OnExpiry::Resume {
        gate.state = gate.state.close(CloseReason::Expired, minter.at())?;
        store::gate::save(tx, &gate).await?;
        request::nobody_answered(tx, &asked, RequestAnswerId(gate.id.0), minter.at()).await?;
        let transition = decide(state(&session), Actor::Server, Command::Resume)?;
        let change = Change { id, actor, command: Command::Resume, caller, reason, minter };
        write(tx, session, transition, change, Vec::new(), Report::default()).await?;
        return Ok(());
    }
    let change = Change { id, actor, command: Command::Expire, caller, reason, minter };
    let report = Report::error("No one answered in time.", "nobody_answered");
    write(tx, session, transition, change, Vec::new(), report).await?;
    Ok(())
}

async fn remind(tx: &mut WriteTx<'_>, session: Session, mut gate: Gate, mut minter: Minter) -> Result<()> {
    gate.reminded_at = Some(minter.at());
    store::gate::save(tx, &gate).await?;
    announce_gate(tx, &minter, Topic::ApprovalReminder, &gate, None).await?;
    let reason = NoticeReason::Reminder { reminder: true };
    let event = minter.event(&WaitingApproval::new(gate.id, "still waiting for a decision", reason));
    append_server_events(tx, session, vec![event], Caller::System, minter.at()).await?;
    Ok(())
}

async fn escalate(tx: &mut WriteTx<'_>, session: Session, mut gate: Gate, mut minter: Minter) -> Result<()> {
    gate.escalated_at = Some(minter.at());
    store::gate::save(tx, &gate).await?;
    if let Some(principal) = &gate.escalate_to
        && let Some(reviewer) = reviewer(tx.conn(), &session, principal).await?
    {
        store::gate::add_reviewer(tx, gate.tenant_id, gate.id, &reviewer).await?;
    }
    announce_gate(tx, &minter, Topic::ApprovalEscalated, &gate, None).await?;
    let reason = NoticeReason::Escalated { escalated_to: gate.escalate_to.as_ref().map(ToString::to_string) };
    let event = minter.event(&WaitingApproval::new(gate.id, "further reviewers were asked", reason));
    append_server_events(tx, session, vec![event], Caller::System, minter.at()).await?;
    Ok(())
}

/// Undoes a decision that cannot be carried out, and records the reason. Returns `false` if the gate holds no decision
/// whose undo window is over.
async fn reopen(ledger: &Ledger, place: Place, why: String) -> Result<bool> {
    let Place { tenant_id, id, session_id } = place;
    let scope = Scope::system(tenant_id);
    let now = ledger.now();
    let mut minter = Minter::new(ledger, now);
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(session) = store::session::find_locked(tx, tenant_id, session_id).await? else {
                return Ok(false);
            };
            let Some(mut gate) = store::gate::find_locked(tx, tenant_id, id).await? else { return Ok(false) };
            // A newer decision may be held by now. It was not refused.
            if gate.state.held_until().is_none_or(|until| until > now) {
                return Ok(false);
            }
            let decisions = decisions_of(tx.conn(), &gate).await?;
            let Some(last) = decision_state(&gate, &decisions).last else { return Ok(false) };
            let decision = DecisionRecord {
                number: u32::try_from(decisions.len()).unwrap_or(u32::MAX).saturating_add(1),
                user_id: None,
                actor: Caller::System.to_string(),
                email: String::new(),
                verdict: None,
                undoes: Some(last.number),
                value: None,
                value_digest: gate.task_digest,
                note: Some(format!("it could not be carried out: {why}")),
                at: now,
                entity_version: None,
            };
            store::gate::add_decision(tx, tenant_id, id, &decision).await?;
            gate.state = gate.state.reopen()?;
            store::gate::save(tx, &gate).await?;
            announce_gate(tx, &minter, Topic::ApprovalUndone, &gate, Some(&decision)).await?;
            let event = decision_event(&mut minter, &gate, &decision, None);
            append_server_events(tx, session, vec![event], Caller::System, now).await?;
            Ok(true)
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_a_reason_and_a_failure_is_tried_again() {
        for (error, expected) in [
            (Error::invalid("value.stage", "no such option"), Some("value.stage: no such option")),
            (Error::NotFound("entity"), Some("entity not found")),
            (Error::Unavailable("busy".into()), None),
            (Error::Internal("a bug".into()), None),
        ] {
            assert_eq!(refusal(&error).as_deref(), expected, "{error}");
        }
    }
}
