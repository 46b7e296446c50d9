//! Converts gates and decisions.

use super::{history_turn, json};
use crate::problem::Problem;
use domain::gate::{GateKind, Principal};
use ledger::{
    DecisionRecord, ReviewerRecord,
    gate::{Denied, GateDetail, GateItem, Handover, NewDecision, Reply, Resumed},
};
use serde_json::{Map, Value};
use wire::{Code, approval as to, worker};

fn object(values: Map<String, Value>) -> wire::Json {
    json(Value::Object(values).to_string())
}

/// Converts a gate with its title, reviewers and decision.
pub fn approval(item: GateItem) -> to::Approval {
    let decision = item.decision().cloned().map(decision);
    let may_decide = item.may_decide.reason();
    let gate = item.gate;
    to::Approval {
        id: gate.id,
        kind: gate.kind,
        state: gate.state.name(),
        session_id: gate.session_id,
        action_id: gate.action_id,
        action_name: gate.action_name,
        agent_slug: gate.agent_slug,
        entity_id: gate.entity_id,
        entity_title: gate.entity_title,
        title: gate.title,
        task: json(gate.task.to_json().to_string()),
        proposed: item.proposed.map(object),
        digest: item.digest.to_string(),
        score: gate.score,
        flags: gate.flags,
        similar_key: gate.similar_key,
        reviewers: item.reviewers.into_iter().map(reviewer).collect(),
        quorum: gate.quorum,
        approvals: item.approvals,
        may_decide: may_decide.is_none(),
        approved_by_caller: item.is_approved_by_caller,
        may_not_decide_because: may_decide.map(str::to_owned),
        requested_by: gate.requested_by,
        opened_at: gate.opened_at,
        due_at: item.due_at,
        reminded_at: gate.reminded_at,
        escalated_at: gate.escalated_at,
        snoozed_until: item.snoozed_until,
        held_until: gate.state.held_until(),
        settled_at: gate.state.settled_at(),
        decision,
    }
}

fn reviewer(record: ReviewerRecord) -> to::Reviewer {
    let kind = record.kind();
    let (id, name) = match record {
        ReviewerRecord::User { id, email } => (Some(id.0), email),
        ReviewerRecord::Group { id, name } => (Some(id.0), name),
        ReviewerRecord::Anyone => (None, "anyone who reviews".to_owned()),
        ReviewerRecord::Admins => (None, "admins".to_owned()),
    };
    to::Reviewer { kind, id, name }
}

/// Converts a recorded decision.
pub fn decision(record: DecisionRecord) -> to::Decision {
    to::Decision {
        number: record.number,
        decision: record.verdict,
        undoes: record.undoes,
        user_id: record.user_id,
        email: if record.email.is_empty() { record.actor } else { record.email },
        value: record.value.map(json),
        note: record.note,
        at: record.at,
    }
}

fn denial(denied: Denied) -> to::Denial {
    to::Denial { gate_id: denied.gate_id, note: denied.note, by: denied.by, at: denied.at }
}

fn handover(of: Handover) -> to::Handover {
    to::Handover { by: of.by, to: of.to, note: of.note, at: of.at }
}

/// Parses who an approval is handed over to.
pub fn handed_to(text: &str) -> Result<Principal, Problem> {
    let expected = "`user:` with the id of a person, or `group:` with the slug of a group";
    Principal::parse(text).ok_or_else(|| Problem::field(Code::InvalidRequest, "to", expected))
}

/// Converts a gate with everything that a reviewer sees.
pub fn approval_detail(detail: GateDetail) -> to::ApprovalDetail {
    let dimensions = detail.item.gate.criteria.as_deref().and_then(|text| {
        let criteria: Value = serde_json::from_str(text).ok()?;
        Some(criteria.get("dimensions")?.as_array()?.iter().map(|dimension| json(dimension.to_string())).collect())
    });
    let staged = detail.item.gate.task.editable();
    let filled = |slug: &str| staged.is_some_and(|staged| staged.contains_key(slug));
    let fields = detail.fields.iter().filter(|field| filled(&field.slug) || detail.entity.is_none());
    to::ApprovalDetail {
        fields: fields.filter_map(|field| serde_json::to_string(field).ok()).map(json).collect(),
        decisions: detail.item.decisions.iter().cloned().map(decision).collect(),
        entity: detail.entity.map(super::entity),
        entity_then: detail.entity_then.map(super::entity_version),
        dimensions: dimensions.unwrap_or_default(),
        denials: detail.denials.into_iter().map(denial).collect(),
        denials_max: domain::gate::OUTPUT_REJECTION_MAX,
        handovers: detail.handovers.into_iter().map(handover).collect(),
        undo_seconds: detail.undo_seconds,
        document: detail.document.map(|now| to::ChangedDocument {
            version: now.version,
            body: now.body,
            conflicts: now.conflicts,
            joined: now.joined,
        }),
        turns: detail.turns.into_iter().map(history_turn).collect(),
        approval: approval(detail.item),
    }
}

/// Converts the body of a request that decides.
pub fn new_decision(sent: to::Decide) -> Result<NewDecision, Problem> {
    let value = sent.value.map(|value| parsed("value", &value)).transpose()?;
    Ok(NewDecision { verdict: sent.decision, value, note: sent.note, digest: sent.digest })
}

/// Parses a value that a body contains.
fn parsed(field: &str, json: &wire::Json) -> Result<Value, Problem> {
    serde_json::from_str(json.get())
        .map_err(|error| Problem::field(Code::InvalidRequest, field, format!("not readable as JSON: {error}")))
}

/// Converts the body of a request to `tool-approval`, for a gate of this kind.
pub fn tool_approval(sent: to::ToolApproval, kind: GateKind) -> Result<NewDecision, Problem> {
    let refuse = |field, goes: &str| {
        Err(Problem::field(Code::InvalidRequest, field, format!("goes with {goes}; this approval is of kind {kind}")))
    };
    if sent.modified_args.is_some() && kind != GateKind::Tool {
        return refuse("modifiedArgs", "a tool call");
    }
    if sent.modified_output.is_some() && !matches!(kind, GateKind::Output | GateKind::Fields | GateKind::Memory) {
        return refuse("modifiedOutput", "an output");
    }
    let value = sent.modified_output.or(sent.modified_args).map(|value| parsed("value", &value)).transpose()?;
    Ok(NewDecision { verdict: sent.decision, value, note: sent.note, digest: sent.digest })
}

/// Converts the answer to a question.
pub fn reply(sent: to::ElicitationReply) -> Result<Reply, Problem> {
    match (sent.action.unwrap_or(to::ReplyAction::Accept), sent.content) {
        (to::ReplyAction::Accept, Some(content)) => Ok(Reply::Accept(parsed("content", &content)?)),
        (to::ReplyAction::Accept, None) => {
            Err(Problem::field(Code::InvalidRequest, "content", "an answer needs content"))
        }
        (to::ReplyAction::Decline, _) => Ok(Reply::Decline),
        (to::ReplyAction::Cancel, _) => Ok(Reply::Cancel),
    }
}

/// Converts the decision with which a claimed session continues.
pub fn resume(resumed: Resumed) -> worker::Resume {
    let question = resumed.question;
    worker::Resume {
        request_id: question.as_ref().and_then(|question| question.request_id),
        outcome: question.as_ref().map(|question| question.outcome),
        respondent: question.as_ref().map(|question| super::respondent(question.respondent.clone())),
        block: question.map(|question| question.block),
        gate_id: resumed.gate_id,
        kind: resumed.kind,
        tool_call_id: resumed.tool_call_id,
        tool_name: resumed.tool_name,
        decision: resumed.decision,
        tool_input: resumed.tool_input.map(object),
        note: resumed.note,
        answer: resumed.answer.map(json),
    }
}

/// Converts earlier denials in a session.
pub fn denials(denied: Vec<Denied>) -> Vec<to::Denial> {
    denied.into_iter().map(denial).collect()
}
