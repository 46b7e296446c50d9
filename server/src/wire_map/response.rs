//! Converts responses to views and links to forms.

use crate::problem::Problem;
use domain::{id::FeedbackRequestId, response::ResponseStatus};
use ledger::{
    ResponseRecord, ResponseState, ViewLinkRecord,
    response::{Leads, Promote, PromoteTo, Submission},
};
use wire::response::{Lead, PromoteResponse, Response, SubmitInteraction, ViewLink};

/// Returns the status of a response, as readers of answers know it.
pub fn response_status(record: &ResponseRecord) -> ResponseStatus {
    match record.state {
        ResponseState::Draft => ResponseStatus::Draft,
        ResponseState::Submitted if record.promotion.is_some() => ResponseStatus::Promoted,
        ResponseState::Submitted => ResponseStatus::Submitted,
        ResponseState::Abandoned => ResponseStatus::Abandoned,
    }
}

/// Converts a response without its lead.
pub fn response(record: ResponseRecord) -> Response {
    response_with(record, &Leads::new())
}

/// Converts a response. `leads` has those that the caller may read.
pub fn response_with(record: ResponseRecord, leads: &Leads) -> Response {
    let lead = record.lead_entity_id.and_then(|id| leads.get(&id)).cloned();
    Response {
        lead: lead.map(|lead| Lead { name: lead.name, email: lead.email }),
        status: response_status(&record),
        scores: record.scores,
        id: record.session_id,
        view_id: record.view_id,
        version: record.version,
        request_id: record.request_id.map(FeedbackRequestId),
        respondent_kind: record.respondent_kind,
        respondent_id: record.respondent,
        lead_entity_id: record.lead_entity_id,
        rev: record.rev,
        answers: record.answers,
        late: record.late,
        created_at: record.created_at,
        saved_at: record.saved_at,
        submitted_at: record.submitted_at,
        promoted_entity_id: record.promotion.map(|promotion| promotion.entity_id),
        promotion_session_id: record.promotion_session_id,
    }
}

/// Converts the answers of a program.
pub fn submission(body: SubmitInteraction) -> Submission {
    let SubmitInteraction { submission_id, request_id, version, rev, answers } = body;
    Submission { request_id: request_id.map(|id| id.0), version, rev, submission_id, answers }
}

/// Converts what becomes of a response.
pub fn promote(body: PromoteResponse) -> Result<Promote, Problem> {
    let PromoteResponse { type_id, action_id, title, fields } = body;
    let to = match (type_id, action_id) {
        (Some(id), None) => PromoteTo::Type(id),
        (None, Some(id)) => PromoteTo::Action(id),
        (Some(_), Some(_)) | (None, None) => {
            return Err(ledger::Error::invalid("typeId", "either `typeId` or `actionId`").into());
        }
    };
    Ok(Promote { to, title, fields })
}

/// Converts a link to a form.
pub fn view_link(record: ViewLinkRecord) -> ViewLink {
    ViewLink {
        id: record.id,
        view_id: record.view_id,
        hint: record.hint,
        created_by: record.created_by,
        created_at: record.created_at,
        expires_at: record.expires_at,
        uses: record.uses,
        note: record.note,
        last_used_at: record.last_used_at,
        revoked_at: record.revoked_at,
    }
}
