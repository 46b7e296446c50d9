//! Gates of promotions: an output that the server itself prepared from a response, in a session that no worker claims.

use super::{
    announce::announce_gate,
    open::{check_output_safety, criteria_of, open, opened},
    settle_context::SettleContext,
};
use crate::{
    ActionRecord, Error, Result,
    commit::{Change, Minter, state, write},
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

/// Evaluates the safety rules of an action on an output, and on every answer of the response that it was made from:
/// an answer that the output leaves out or replaces counts too.
///
/// # Errors
/// [`Error::HardBlock`] if they block it.
pub(crate) async fn judge(
    conn: &mut Conn<'_>,
    action: &ActionRecord,
    session: &Session,
    output: Map<String, Value>,
    answers: &Map<String, Value>,
) -> Result<Judged> {
    let criteria = criteria_of(conn, action, session).await?;
    let criteria = criteria.map_err(|reason| Error::HardBlock(Issue::new("actionId", reason)))?;
    let judge = |values: &Map<String, Value>| match check_output_safety(action.output_type, values, &criteria) {
        SafetyGate::Passed { score, flags } => Ok((score, flags)),
        blocked => Err(Error::HardBlock(Issue::new("answers", blocked.refusal().unwrap_or_default()))),
    };
    let (score, mut flags) = judge(&output)?;
    for values in values_to_judge(&output, answers, &criteria) {
        for flag in judge(&values)?.1 {
            if !flags.contains(&flag) {
                flags.push(flag);
            }
        }
    }
    Ok(Judged { output, criteria, score, flags })
}

/// Returns the output once with the plain answers to its dimensions, and once with each rating, where they say
/// something else than the output. Keys of answers have underscores for the hyphens of slugs.
fn values_to_judge(
    output: &Map<String, Value>,
    answers: &Map<String, Value>,
    criteria: &[CriteriaSetRecord],
) -> Vec<Map<String, Value>> {
    let slugs: Vec<&str> = criteria.iter().flat_map(|set| &set.dimensions).map(|of| of.slug.as_str()).collect();
    let of = |from: &Map<String, Value>| {
        let mut values = output.clone();
        for slug in &slugs {
            let value = from.get(*slug).or_else(|| from.get(&slug.replace('-', "_")));
            // A rating is an object, and counts by its own dimensions.
            let value = value.filter(|value| !value.is_object());
            values.extend(value.map(|value| ((*slug).to_owned(), value.clone())));
        }
        values
    };
    let ratings = answers.values().filter_map(Value::as_object);
    std::iter::once(answers).chain(ratings).map(of).filter(|values| values != output).collect()
}

/// Opens the gate of a judged output. Returns the event for the session's log. The caller pauses the session.
pub(crate) async fn stage_judged(
    tx: &mut WriteTx<'_>,
    session: &Session,
    (id, action): (GateId, &ActionRecord),
    judged: Judged,
    minter: &mut Minter,
) -> Result<PreparedEvent> {
    let Judged { output, criteria, score, flags } = judged;
    let staged = Staged { criteria_score: score, safety_flags: flags, ..Staged::of(Value::Object(output)) };
    let task = if action.output_type == OutputType::Fields { Task::Fields(staged) } else { Task::Output(staged) };
    let of = (super::RequestTerms::default(), minter.at());
    let gate = open(tx, session, Some(action), (id, task), &criteria, of).await?;
    announce_gate(tx, minter, Topic::ApprovalRequested, &gate, None).await?;
    Ok(opened(&gate, minter))
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
    let (caller, minter) = (by.caller, by.minter);
    let change = Change { id: gate.session_id, actor: Actor::Server, command: Command::Finish, caller, reason, minter };
    write(tx, session, transition, change, Vec::new(), Report::default()).await
}
