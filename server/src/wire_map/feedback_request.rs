//! Converts requests of agents that people answer, and the answers.

use super::json;
use crate::problem::Problem;
use domain::{
    Timestamp,
    feedback_request::{Outcome, RequestState, Respondent},
    gate::{GateKind, GateState, Question, Task},
    id::GateId,
    view::{Field, to_schema},
};
use ledger::{
    AnswerRecord, RequestRecord,
    feedback_request::{Answerable, Answered, Form, NewAnswer, NewRequest, RecordedRequest, RequestItem, TakenAnswers},
    inbox::Item,
};
use serde::de::DeserializeOwned;
use wire::{
    Code,
    approval::{Approval, ApprovalDetail, ElicitationReply, ReplyAction},
    feedback_request as to,
};

/// Converts what an agent asks.
pub fn new_request(sent: to::AskFeedback) -> Result<NewRequest, Problem> {
    let forms = [sent.view_id.is_some(), sent.fields.is_some(), sent.requested_schema.is_some()];
    if forms.into_iter().filter(|given| *given).count() > 1 {
        let message = "at most one of viewId, fields and requestedSchema";
        return Err(Problem::field(Code::InvalidRequest, "requestedSchema", message));
    }
    let form = match (sent.view_id, sent.fields, sent.requested_schema) {
        (Some(id), ..) => Form::View(id),
        (None, Some(fields), _) => Form::Fields(read("fields", &fields)?),
        (None, None, Some(schema)) => Form::Schema(read("requestedSchema", &schema)?),
        (None, None, None) => Form::Text,
    };
    Ok(NewRequest {
        attempt: sent.attempt,
        form,
        message: sent.message,
        blocking: sent.blocking.unwrap_or(true),
        access: sent.gate,
        audience: sent.audience,
        expires_at: sent.expires_at,
        on_expiry: sent.on_expiry.unwrap_or_default(),
        idempotency_key: sent.idempotency_key,
    })
}

/// Parses a member of a body whose order of keys matters.
fn read<T: DeserializeOwned>(field: &str, json: &wire::Json) -> Result<T, Problem> {
    serde_json::from_str(json.get()).map_err(|error| Problem::field(Code::InvalidRequest, field, error.to_string()))
}

/// Converts an answer that a member or a program sends.
pub fn new_answer(sent: to::AnswerRequest) -> Result<NewAnswer, Problem> {
    let outcome = match sent.action.unwrap_or(ReplyAction::Accept) {
        ReplyAction::Accept => Outcome::Answered,
        ReplyAction::Decline => Outcome::Declined,
        ReplyAction::Cancel => Outcome::Cancelled,
    };
    let answers = sent.content.map(|content| read("content", &content)).transpose()?;
    Ok(NewAnswer { outcome, answers, note: sent.note })
}

/// Converts the reply to a request that it names.
pub fn reply_to_request(sent: ElicitationReply) -> Result<NewAnswer, Problem> {
    let accepts = sent.action.unwrap_or(ReplyAction::Accept) == ReplyAction::Accept;
    // Content beside another action is ignored, as in a reply that names no request.
    let content = sent.content.filter(|_| accepts);
    new_answer(to::AnswerRequest { action: sent.action, content, note: None })
}

/// Converts the answer to a request for feedback. `link` is the secret of a link to the form.
pub fn recorded_request(recorded: RecordedRequest, link: Option<String>) -> to::Asked {
    let waits = recorded.session.status() == domain::session::Status::WaitingHuman;
    let is_for_members = recorded.session.private_to.is_none();
    let item = RequestItem { request: recorded.request, view_slug: recorded.view_slug, fields: recorded.fields };
    to::Asked {
        url: link
            .map(|secret| format!("/f/{secret}"))
            .or_else(|| item.request.gate_id.map(|id| format!("/inbox/{id}")))
            // Members pass the path on, and only one of them can open a question of an incognito session.
            .or_else(|| is_for_members.then(|| format!("/questions/{}", item.request.id))),
        request: feedback_request(item),
        waits,
        answer: recorded.answer.map(request_answer),
    }
}

/// The form of a question for which no session waits.
#[derive(Debug, Default)]
pub struct OpenForm {
    /// Questions of the form.
    fields: Vec<Field>,
    /// Agent of the session that asks.
    agent_slug: Option<String>,
    /// Whether someone has answered.
    is_answered: bool,
}

/// Converts a question for which no session waits to an item of the inbox, as it is at this time. No API shows it so:
/// it is no approval. Lists have no form.
pub fn open_question(request: RequestRecord, form: Option<OpenForm>, now: Timestamp) -> Approval {
    let OpenForm { fields, agent_slug, is_answered } = form.unwrap_or_default();
    let state = match request.state {
        RequestState::Cancelled => GateState::Withdrawn,
        RequestState::Expired => GateState::Expired,
        RequestState::Waiting if request.expires_at.is_some_and(|at| at <= now) => GateState::Expired,
        RequestState::Waiting if !is_answered => GateState::Open,
        RequestState::Waiting | RequestState::Answered => GateState::Settled,
    };
    let is_open = state == GateState::Open;
    let schema = serde_json::to_value(to_schema(&fields)).ok();
    let question = Question { message: request.message.clone(), schema, fields, request_id: Some(request.id) };
    Approval {
        id: GateId(request.id.0),
        kind: GateKind::Question,
        state,
        session_id: request.session_id,
        action_id: None,
        action_name: None,
        agent_slug,
        entity_id: None,
        entity_title: None,
        title: request.message,
        task: json(Task::Question(question).to_json().to_string()),
        proposed: None,
        digest: request.digest.to_string(),
        score: None,
        flags: Vec::new(),
        similar_key: request.id.to_string(),
        reviewers: Vec::new(),
        quorum: 1,
        approvals: 0,
        may_decide: is_open,
        approved_by_caller: false,
        may_not_decide_because: None,
        requested_by: request.asked_by,
        opened_at: request.asked_at,
        due_at: request.expires_at,
        reminded_at: None,
        escalated_at: None,
        snoozed_until: None,
        held_until: None,
        settled_at: request.closed_at,
        decision: None,
    }
}

/// The same with its form. An answer cannot be undone.
pub fn open_question_detail(recorded: Answerable, now: Timestamp) -> ApprovalDetail {
    let Answerable { request, fields, agent_slug, is_answered } = recorded;
    ApprovalDetail {
        approval: open_question(request, Some(OpenForm { fields, agent_slug, is_answered }), now),
        entity: None,
        entity_then: None,
        fields: Vec::new(),
        dimensions: Vec::new(),
        decisions: Vec::new(),
        denials: Vec::new(),
        denials_max: domain::gate::OUTPUT_REJECTION_MAX,
        handovers: Vec::new(),
        undo_seconds: 0,
        document: None,
        turns: Vec::new(),
    }
}

/// Converts an item of the inbox, as it is at this time.
pub fn inbox_item(item: Item, now: Timestamp) -> ApprovalDetail {
    match item {
        Item::Gate(found) => super::approval_detail(*found),
        Item::Question(asked) => open_question_detail(*asked, now),
    }
}

/// Converts a request.
pub fn feedback_request(item: RequestItem) -> to::FeedbackRequest {
    let request = item.request;
    to::FeedbackRequest {
        id: request.id,
        session_id: request.session_id,
        attempt: request.attempt,
        gate_id: request.gate_id,
        view_id: request.view_id,
        view_slug: item.view_slug,
        version: request.version,
        message: request.message,
        fields: json(serde_json::to_string(&item.fields).unwrap_or_else(|_| "[]".into())),
        schema: json(serde_json::to_string(&to_schema(&item.fields)).unwrap_or_else(|_| "{}".into())),
        blocking: request.blocking,
        gate: request.access,
        audience: request.audience,
        asked_by: request.asked_by,
        asked_at: request.asked_at,
        expires_at: request.expires_at,
        on_expiry: request.on_expiry,
        idempotency_key: request.idempotency_key,
        state: request.state,
        closed_at: request.closed_at,
    }
}

/// Converts who answered.
pub fn respondent(respondent: Respondent) -> to::Respondent {
    let Respondent { kind, label, .. } = respondent;
    to::Respondent { kind, label, assurance: kind.assurance() }
}

/// Converts one answer.
pub fn request_answer(answer: AnswerRecord) -> to::RequestAnswer {
    to::RequestAnswer {
        id: answer.id,
        request_id: answer.request_id,
        session_id: answer.session_id,
        response_session_id: answer.response_session_id,
        message: answer.message,
        blocking: answer.blocking,
        view_id: answer.view_id,
        version: answer.version,
        respondent: respondent(answer.respondent),
        outcome: answer.outcome,
        answers: answer.answers.map(json),
        note: answer.note,
        late: answer.late,
        deposited_at: answer.deposited_at,
        consumed_at: answer.consumed_at,
        consumed_attempt: answer.consumed_attempt,
    }
}

/// Converts an answer as it was recorded.
pub fn answered(answered: Answered) -> to::Answered {
    to::Answered { answer: request_answer(answered.answer), repeated: !answered.is_new }
}

/// Converts answers that were taken.
pub fn taken(taken: TakenAnswers) -> to::SessionContext {
    to::SessionContext { input: taken.answers.into_iter().map(request_answer).collect(), block: taken.block }
}

/// Converts answers that a claim took; `None` if it took none.
pub fn session_context(answers: TakenAnswers) -> Option<to::SessionContext> {
    (!answers.answers.is_empty()).then(|| taken(answers))
}
