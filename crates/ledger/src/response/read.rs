//! Reading a form, to show it.

use super::{
    Respondent,
    open::{is_cancelled, published, remember, require_open, takes_one, version_of},
    save::narrow,
};
use crate::{Error, Ledger, Result, ViewVersionRecord};
use domain::{
    id::{FeedbackRequestId, ViewId},
    response::{Closed, RespondentKind, fitting},
    view::Gate,
};
use std::sync::Arc;
use store::{
    Conn, ResponseRecord,
    response::{draft_of, submitted_of},
};
use uuid::Uuid;

/// A form as its respondent sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The version that takes responses.
    pub version: ViewVersionRecord,
    /// Why the form takes no answer of the respondent now; `None` if it takes one. [`Closed::Answered`] comes before
    /// the other reasons, because a respondent may always see what is recorded.
    pub closed: Option<Closed>,
    /// Whether the respondent has to give a name and an e-mail address first.
    pub asks_lead: bool,
    /// The respondent's draft, with the answers that this version has a field for.
    pub draft: Option<ResponseRecord>,
    /// The respondent's response, if the form takes one of each.
    pub submitted: Option<ResponseRecord>,
    /// Whether a response of the respondent is recorded, also if the form takes many of each.
    pub has_answered: bool,
}

/// Returns the version of a form that a respondent saw: its fields tell how what was posted is read. Without its
/// number, and for a number that no version has, it is the version that takes responses now.
///
/// # Errors
/// [`Error::NotFound`] for an unknown view, [`Error::FormClosed`] for one that is not published.
pub async fn version(
    ledger: &Ledger,
    respondent: &Respondent,
    (view_id, request_id): (ViewId, Option<Uuid>),
    seen: Option<u64>,
) -> Result<Arc<ViewVersionRecord>> {
    let (tenant_id, of) = (respondent.tenant_id(), ledger.clone());
    if let Some(known) = seen.and_then(|seen| ledger.view_versions().get(&(tenant_id, view_id, seen))) {
        return Ok(known);
    }
    let read = ledger.snapshot(respondent.scope(), async move |conn| {
        if let Some(seen) = seen
            && let Some(found) = version_of(&of, conn, tenant_id, view_id, seen).await?
        {
            return Ok(found);
        }
        Ok(Arc::new(published(&of, conn, tenant_id, view_id, request_id).await?))
    });
    let found = read.await?;
    remember(ledger, tenant_id, request_id, &found);
    Ok(found)
}

/// Reads a form. This makes no response.
///
/// # Errors
/// [`Error::NotFound`] for an unknown view. [`Error::FormClosed`] for one that is not published, and for a question
/// that the respondent answered without a response. [`Error::Forbidden`] for a member who may not answer the agent's
/// question, [`Error::NotFound`] for one who may not see its session.
pub async fn read(ledger: &Ledger, respondent: &Respondent, view_id: ViewId, request_id: Option<Uuid>) -> Result<Form> {
    let (respondent, now) = (*respondent, ledger.now());
    let of = ledger.clone();
    let form = ledger
        .snapshot(respondent.scope(), async move |conn| {
            let version = published(&of, conn, respondent.tenant_id(), view_id, request_id).await?;
            let asks_lead = version.publication.gate == Gate::Lead && respondent.kind() == RespondentKind::Browser;
            let later = if asks_lead { respondent.as_lead() } else { respondent };
            let open = match require_open(conn, &later, (&version, request_id), now).await {
                Ok(()) => Ok(()),
                Err(Error::FormClosed(closed)) => Err(closed),
                Err(error) => return Err(error),
            };
            let is_cancelled = is_cancelled(conn, respondent.tenant_id(), request_id).await?;
            let open = open.and(if is_cancelled { Err(Closed::Cancelled) } else { Ok(()) });
            narrow(conn, &respondent, request_id).await?;
            let key = respondent.response_key(view_id, request_id);
            let submitted = submitted_of(conn, key).await?;
            let has_answered = submitted.is_some();
            if !has_answered && answered_elsewhere(conn, &respondent, request_id).await? {
                return Err(Closed::Answered.into());
            }
            let submitted = submitted.filter(|_| takes_one(&version.publication, request_id));
            let closed = submitted.as_ref().map(|_| Closed::Answered).or(open.err());
            let draft = draft_of(conn, key).await?;
            let draft = draft.map(|draft| ResponseRecord { answers: fitting(&version.fields, draft.answers), ..draft });
            Ok(Form { version, closed, asks_lead, draft, submitted, has_answered })
        })
        .await?;
    remember(ledger, respondent.tenant_id(), request_id, &form.version);
    Ok(form)
}

/// Whether a member or a program answered the question without a response, for example in the inbox.
async fn answered_elsewhere(conn: &mut Conn<'_>, respondent: &Respondent, request_id: Option<Uuid>) -> Result<bool> {
    let Some(id) = request_id.filter(|_| !respondent.is_stranger()) else { return Ok(false) };
    let key = respondent.caller().to_string();
    let own = store::feedback_request::own_answer(conn, respondent.tenant_id(), FeedbackRequestId(id), &key).await?;
    Ok(own.is_some())
}
