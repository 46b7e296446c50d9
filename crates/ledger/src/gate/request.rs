//! The requests of agents that open gates: their answers, and what is recorded when no one answers.

use crate::Result;
use domain::{
    Scope, Timestamp,
    feedback_request::{Outcome, RequestState, Respondent},
    gate::{Gate, Verdict, canonical_digest},
    id::{RequestAnswerId, SessionId},
};
use serde_json::Value;
use store::{AnswerRecord, DecisionRecord, RequestRecord, WriteTx};

/// How an answer to a request was given, where the decision on the gate does not say it.
#[derive(Debug, Clone)]
pub(crate) struct AnswerDetails {
    /// Id of the answer.
    pub(crate) id: RequestAnswerId,
    /// Person or program that answered.
    pub(crate) respondent: Respondent,
    /// Response session in which the answer was given.
    pub(crate) response_session_id: Option<SessionId>,
    /// How it ends the request.
    pub(crate) outcome: Outcome,
}

impl AnswerDetails {
    /// An answer of the caller at a gate. A gate takes effect once, so its id serves for its answer too.
    pub(crate) fn of_decision(gate: &Gate, scope: &Scope, outcome: Outcome) -> Self {
        let respondent = Respondent::of_actor(&scope.caller.to_string(), scope.user_id());
        Self { id: RequestAnswerId(gate.id.0), respondent, response_session_id: None, outcome }
    }
}

/// Returns the request that opened a gate, locked. `None` if none did.
pub(super) async fn of_gate(tx: &mut WriteTx<'_>, gate: &Gate) -> Result<Option<RequestRecord>> {
    match gate.task.request_id() {
        Some(id) => Ok(store::feedback_request::find_locked(tx, gate.tenant_id, id).await?),
        None => Ok(None),
    }
}

/// Records the decision on a question as the answer to its request, and closes the request. Other gates have none.
pub(super) async fn record(
    tx: &mut WriteTx<'_>,
    gate: &Gate,
    decision: &DecisionRecord,
    details: Option<AnswerDetails>,
    at: Timestamp,
) -> Result<()> {
    let Some(request) = of_gate(tx, gate).await? else { return Ok(()) };
    let details = details.unwrap_or_else(|| AnswerDetails {
        id: RequestAnswerId(gate.id.0),
        respondent: Respondent::of_actor(&decision.actor, decision.user_id),
        response_session_id: None,
        outcome: if decision.verdict == Some(Verdict::Respond) { Outcome::Answered } else { Outcome::Declined },
    });
    let mut answer = answer_to(&request, details.id, details.respondent, details.outcome, at);
    answer.response_session_id = details.response_session_id;
    answer.note = decision.note.clone();
    if details.outcome == Outcome::Answered {
        answer.answers = decision.value.clone();
        answer.digest = decision.value_digest;
    }
    store::feedback_request::insert_answer(tx, gate.tenant_id, &answer).await?;
    store::feedback_request::close(tx, gate.tenant_id, request.id, RequestState::Answered, at).await?;
    Ok(())
}

/// Records that no one answered a request in time, and closes it.
pub(crate) async fn nobody_answered(
    tx: &mut WriteTx<'_>,
    request: &RequestRecord,
    id: RequestAnswerId,
    at: Timestamp,
) -> Result<()> {
    let answer = answer_to(request, id, Respondent::system(), Outcome::NobodyAnswered, at);
    store::feedback_request::insert_answer(tx, request.tenant_id, &answer).await?;
    store::feedback_request::close(tx, request.tenant_id, request.id, RequestState::Expired, at).await?;
    Ok(())
}

/// An answer to a request, without words.
pub(crate) fn answer_to(
    request: &RequestRecord,
    id: RequestAnswerId,
    respondent: Respondent,
    outcome: Outcome,
    at: Timestamp,
) -> AnswerRecord {
    AnswerRecord {
        id,
        request_id: request.id,
        session_id: request.session_id,
        response_session_id: None,
        respondent,
        outcome,
        answers: None,
        note: None,
        digest: canonical_digest(&Value::Null),
        late: false,
        deposited_at: at,
        consumed_at: None,
        consumed_attempt: None,
        message: request.message.clone(),
        blocking: request.blocking,
        view_id: request.view_id,
        version: request.version,
    }
}
