//! Context for an agent whose session continues: the decision at its gate, and earlier denials of its output.

use super::{decision_state, decisions_of, proposed};
use crate::{Result, wait::Wait};
use domain::{
    Timestamp,
    event::{Body, Event, Known},
    feedback_request::{Outcome, Respondent, ShownAnswer, render},
    gate::{Gate, GateKind, GateState, OUTPUT_REJECTION_MAX, Question, Task, Verdict},
    id::{FeedbackRequestId, GateId, RequestAnswerId},
    session::{Session, Status},
    untrusted::Delimiter,
};
use serde_json::{Map, Value};
use store::{Conn, DecisionRecord};

/// Number of answers that are read for the one that ended a question: the newest.
const DECISIONS_READ: u32 = 20;
/// Number of tool results that are read at once.
const RESULTS_READ: u32 = 100;

/// A denied output of a session.
#[derive(Debug, Clone)]
pub struct Denied {
    /// The gate at which it was denied.
    pub gate_id: GateId,
    /// Reason given by the reviewer.
    pub note: Option<String>,
    /// E-mail address of the reviewer, or the actor if it is not a person.
    pub by: String,
    /// When the decision was recorded (UTC).
    pub at: Timestamp,
}

/// The decision with which a session continues.
#[derive(Debug, Clone)]
pub struct Resumed {
    /// The gate that was decided.
    pub gate_id: GateId,
    /// Kind of the gate.
    pub kind: GateKind,
    /// Id of the tool call; only for a tool gate.
    pub tool_call_id: Option<String>,
    /// Name of the tool; only for a tool gate.
    pub tool_name: Option<String>,
    /// What the reviewer decided.
    pub decision: Verdict,
    /// The approved arguments of the tool call, with the reviewer's changes.
    pub tool_input: Option<Map<String, Value>>,
    /// The reviewer's note.
    pub note: Option<String>,
    /// JSON: the answer to a question, or the result that replaces a tool call.
    pub answer: Option<String>,
    /// The answer to a question, for the agent. `None` for a tool gate.
    pub question: Option<QuestionOutcome>,
}

/// How a question ended, and who ended it.
#[derive(Debug, Clone)]
pub struct QuestionOutcome {
    /// Id of the answer to a request; `None` for a question that no request opened.
    pub answer_id: Option<RequestAnswerId>,
    /// The request, if one opened the gate.
    pub request_id: Option<FeedbackRequestId>,
    /// Whether the question was answered, declined or closed, or no one answered.
    pub outcome: Outcome,
    /// Person or program that answered; the server if no one did.
    pub respondent: Respondent,
    /// Question and answer as a block of untrusted text for the agent.
    pub block: String,
}

fn by(decision: &DecisionRecord) -> String {
    if decision.email.is_empty() { decision.actor.clone() } else { decision.email.clone() }
}

/// Returns the denied outputs of the gate's session, oldest first, without the gate itself.
pub(super) async fn denials(conn: &mut Conn<'_>, gate: &Gate) -> store::Result<Vec<Denied>> {
    let gates = store::gate::denied(conn, gate.tenant_id, gate.session_id).await?;
    denied(conn, gates.into_iter().filter(|earlier| earlier.id != gate.id).collect()).await
}

async fn denied(conn: &mut Conn<'_>, gates: Vec<Gate>) -> store::Result<Vec<Denied>> {
    let Some(first) = gates.first() else { return Ok(Vec::new()) };
    let ids: Vec<GateId> = gates.iter().map(|gate| gate.id).collect();
    let mut decisions = store::gate::decisions(conn, first.tenant_id, &ids).await?;
    let denials = gates.iter().filter_map(|gate| {
        let decisions = decisions.remove(&gate.id).unwrap_or_default();
        let last = decision_state(gate, &decisions).last?;
        let decision = decisions.into_iter().find(|d| d.number == last.number)?;
        Some(Denied { gate_id: gate.id, note: decision.note.clone(), by: by(&decision), at: decision.at })
    });
    Ok(denials.collect())
}

/// Returns the denials that a worker gets with the next attempt of a session.
pub(crate) async fn denials_for_attempt(conn: &mut Conn<'_>, session: &Session) -> Result<Vec<Denied>> {
    // Only the output of a worker can be denied, and no worker has claimed this session.
    if session.attempt == 0 {
        return Ok(Vec::new());
    }
    let gates = store::gate::denied(conn, session.tenant_id, session.id).await?;
    debug_assert!(gates.len() < OUTPUT_REJECTION_MAX as usize, "a session that is denied that often has failed");
    Ok(denied(conn, gates).await?)
}

/// Returns the decision that put a session back into the queue. Returns `None` if the session was queued for
/// another reason since, or if the log has the result of the call that was decided.
pub(crate) async fn resume_context(
    conn: &mut Conn<'_>,
    session: &Session,
    wait: Option<Wait>,
    delimiter: &Delimiter,
) -> Result<Option<Resumed>> {
    if session.attempt == 0 {
        return Ok(None);
    }
    let Some(gate) = store::gate::newest_of_session(conn, session.tenant_id, session.id).await? else {
        return Ok(None);
    };
    let is_decided = matches!(gate.state.name(), GateState::Settled | GateState::Expired);
    let is_output = matches!(gate.kind, GateKind::Output | GateKind::Fields);
    if !is_decided || is_output || !is_due(conn, session, &gate, wait).await? {
        return Ok(None);
    }
    if gate.state.name() == GateState::Expired {
        return unanswered(conn, &gate, delimiter).await;
    }
    let decisions = decisions_of(conn, &gate).await?;
    let decision_state = decision_state(&gate, &decisions);
    let Some(last) = decision_state.last.and_then(|last| decisions.iter().find(|d| d.number == last.number)) else {
        return Ok(None);
    };
    let Some(decision) = last.verdict else { return Ok(None) };
    let (tool_call_id, tool_name) = match &gate.task {
        Task::Tool(call) => (Some(call.tool_call_id.clone()), Some(call.tool_name.clone())),
        Task::Output(_) | Task::Fields(_) | Task::Question(_) | Task::Memory(_) => (None, None),
    };
    let question = match &gate.task {
        Task::Question(question) => Some(question_outcome(conn, &gate, question, last, delimiter).await?),
        Task::Tool(_) | Task::Output(_) | Task::Fields(_) | Task::Memory(_) => None,
    };
    let approved = matches!(decision, Verdict::Approve | Verdict::Edit);
    Ok(Some(Resumed {
        gate_id: gate.id,
        kind: gate.kind,
        tool_call_id,
        tool_name,
        decision,
        tool_input: if approved { proposed(&gate, &decision_state, &decisions)? } else { None },
        note: last.note.clone(),
        answer: last.value.clone().filter(|_| decision == Verdict::Respond),
        question,
    }))
}

/// Returns whether the next attempt gets the end of this gate. If a worker loses or releases its lease afterwards, the
/// following attempt gets it again, until the log has the result of the call. `wait` is what queued the session last.
async fn is_due(conn: &mut Conn<'_>, session: &Session, gate: &Gate, wait: Option<Wait>) -> store::Result<bool> {
    // No worker has claimed the session since.
    if session.attempt == gate.attempt {
        return Ok(true);
    }
    // A session that waited again since, for a message or a custom tool, has got the decision before.
    let Some(wait) = wait.filter(|wait| wait.attempt.is_none_or(|attempt| attempt == gate.attempt)) else {
        return Ok(false);
    };
    if !matches!(wait.status, Status::WaitingHuman | Status::AwaitingTool) {
        return Ok(false);
    }
    let Task::Tool(call) = &gate.task else { return Ok(true) };
    Ok(!has_result(conn, session, wait.ended, &call.tool_call_id).await?)
}

/// Returns whether the log has a result of this tool call after a sequence.
async fn has_result(conn: &mut Conn<'_>, session: &Session, mut after: u64, call_id: &str) -> store::Result<bool> {
    let kinds = [Known::AgentToolResult.as_str().to_owned()];
    let is_result = |event: &Event| match event.body() {
        Body::AgentToolResult(found) => found.results.iter().any(|result| result.id.as_deref() == Some(call_id)),
        _ => false,
    };
    loop {
        let range = (after, session.head_sequence);
        let page = store::event::after(conn, session.tenant_id, session.id, range, &kinds, RESULTS_READ).await?;
        if page.items.iter().any(is_result) {
            return Ok(true);
        }
        match page.items.last() {
            Some(last) if page.has_more => after = last.sequence,
            _ => return Ok(false),
        }
    }
}

/// Returns the answer to a question for the agent.
async fn question_outcome(
    conn: &mut Conn<'_>,
    gate: &Gate,
    question: &Question,
    decision: &DecisionRecord,
    delimiter: &Delimiter,
) -> Result<QuestionOutcome> {
    let recorded = match question.request_id {
        Some(_) => store::feedback_request::answer_of_gate(conn, gate.tenant_id, gate.id).await?,
        None => None,
    };
    let answered = decision.verdict == Some(Verdict::Respond);
    let (outcome, respondent) = match &recorded {
        Some(answer) => (answer.outcome, answer.respondent.clone()),
        None => {
            let outcome = match answered {
                true => Outcome::Answered,
                false => refusal(conn, gate, decision).await?,
            };
            let label = Some(decision.email.clone()).filter(|email| !email.is_empty());
            (outcome, Respondent { label, ..Respondent::of_actor(&decision.actor, decision.user_id) })
        }
    };
    let value: Option<Value> =
        decision.value.as_deref().filter(|_| answered).and_then(|v| serde_json::from_str(v).ok());
    let shown = ShownAnswer {
        message: &question.message,
        fields: &question.fields,
        outcome,
        answers: value.as_ref(),
        note: decision.note.as_deref(),
        respondent: &respondent,
        at: decision.at,
    };
    let block = render(&[shown], delimiter);
    let answer_id = recorded.map(|answer| answer.id);
    Ok(QuestionOutcome { answer_id, request_id: question.request_id, outcome, respondent, block })
}

/// Returns whether a question without a request was declined or closed without a word. The verdict is the same; the
/// event of the decision tells them apart.
async fn refusal(conn: &mut Conn<'_>, gate: &Gate, decision: &DecisionRecord) -> Result<Outcome> {
    let kinds = [Known::UserFormSubmit.as_str().to_owned()];
    let newest =
        store::event::before(conn, gate.tenant_id, gate.session_id, u64::MAX >> 1, &kinds, DECISIONS_READ).await?;
    let is_closed = newest.items.iter().any(|event| {
        event.body().decision().is_some_and(|recorded| {
            (recorded.gate_id, recorded.number) == (gate.id, decision.number)
                && recorded.outcome == Some(Outcome::Cancelled)
        })
    });
    Ok(if is_closed { Outcome::Cancelled } else { Outcome::Declined })
}

/// Returns the outcome of a question that no one answered, for the agent. `None` unless the request that opened the
/// gate lets it continue.
async fn unanswered(conn: &mut Conn<'_>, gate: &Gate, delimiter: &Delimiter) -> Result<Option<Resumed>> {
    let Task::Question(question) = &gate.task else { return Ok(None) };
    if question.request_id.is_none() {
        return Ok(None);
    }
    let recorded = store::feedback_request::answer_of_gate(conn, gate.tenant_id, gate.id).await?;
    let Some(answer) = recorded.filter(|answer| answer.outcome == Outcome::NobodyAnswered) else { return Ok(None) };
    let shown = ShownAnswer {
        message: &question.message,
        fields: &[],
        outcome: answer.outcome,
        answers: None,
        note: None,
        respondent: &answer.respondent,
        at: answer.deposited_at,
    };
    let block = render(&[shown], delimiter);
    Ok(Some(Resumed {
        gate_id: gate.id,
        kind: gate.kind,
        tool_call_id: None,
        tool_name: None,
        decision: Verdict::Deny,
        tool_input: None,
        note: Some("No one answered in time.".into()),
        answer: None,
        question: Some(QuestionOutcome {
            answer_id: Some(answer.id),
            request_id: question.request_id,
            outcome: answer.outcome,
            respondent: answer.respondent,
            block,
        }),
    }))
}
