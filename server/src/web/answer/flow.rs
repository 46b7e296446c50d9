//! What the pages of forms share: showing the questions, saving drafts, submitting.

use super::{
    posted_form::PostedForm,
    question_page::{Shown, question_page},
    refusal::Refusal,
    site::{Site, closed},
    visit::Visit,
};
use crate::{
    problem::Problem,
    state::AppState,
    web::shell::{PageRejection, render},
};
use app::form_page::{self as ui, DoneProps, Frame, Link, Note};
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use domain::{
    issue::Issue,
    response::Closed,
    view::{Answers, Field, Publication, applicable, shown},
};
use ledger::{
    Error, ResponseRecord, ViewVersionRecord,
    response::{self, DraftSave, Form, Submission, Submitted},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The refusal of a form whose hidden field a program filled in.
pub const TRAPPED: &str = "A field that has to stay empty was filled in. Submit the form once more.";

/// What a request does with a form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It begins an answer or continues one.
    Answer,
    /// It sends an answer or reads that one is recorded. After the form was filled up or has closed, this is still
    /// possible for a respondent of whom a response is recorded: the first answer of the server may be lost.
    Submission,
}

/// Reads the form. `Err` has the page that is shown instead of it.
async fn open(state: &AppState, site: &Site, of: Use) -> Result<Form, Box<Result<Response, PageRejection>>> {
    let refused = match response::read(&state.ledger, &site.respondent, site.view_id, site.request_id).await {
        Ok(form) => match form.closed {
            None | Some(Closed::Answered) => return Ok(form),
            Some(_) if of == Use::Submission && form.has_answered => return Ok(form),
            Some(closed) => closed,
        },
        Err(Error::FormClosed(closed)) => closed,
        Err(Error::NotFound(_)) if !site.says_why => Closed::NotPublished,
        Err(error) => return Err(Box::new(Err(error.into()))),
    };
    let reason = site.says_why.then_some(refused);
    Err(Box::new(Ok(closed(site.frame.clone(), reason, site.back.clone()).await)))
}

/// Shows the form, or the answers that are recorded. `pairs` are those of the query.
pub async fn show(state: &AppState, site: Site, pairs: &[(String, String)]) -> Result<Response, PageRejection> {
    let has = |name: &str| pairs.iter().any(|(known, _)| known == name);
    let of = if has("_done") { Use::Submission } else { Use::Answer };
    let form = match open(state, &site, of).await {
        Ok(form) => form,
        Err(instead) => return *instead,
    };
    // Who opens the form again later stays here to read the answers. The address may also have been passed on to
    // somebody who has not answered.
    let has_sent = has("_done") && form.has_answered;
    let recorded = form.submitted.as_ref().map(|submitted| &submitted.answers);
    if has_sent || recorded.is_some() {
        return Ok(done(state, &site, &form, recorded, has_sent).await);
    }
    let note = (has("_saved") && form.draft.is_some()).then_some(Note::Saved);
    let shown = Shown { note, ..Shown::opened(&form, pairs) };
    Ok(question_page(state, site, form, shown, StatusCode::OK).await)
}

/// The page of another server with which respondents of the form continue, if the operator still allows its host.
fn next_page(state: &AppState, form: &Form) -> Option<Link> {
    let publication = &form.version.publication;
    let (host, href) = publication.redirect_host().zip(publication.redirect_url.clone())?;
    let text = format!("Continue to {host}");
    state.ledger.allows_redirect(publication).then_some(Link { href, text })
}

/// The page that says that the answers are recorded. `leaves` opens the page of another server that the form names.
async fn done(state: &AppState, site: &Site, form: &Form, answers: Option<&Answers>, leaves: bool) -> Response {
    let props = done_props(site, form, answers, (next_page(state, form), leaves));
    render(StatusCode::OK, move || ui::done_page(&props)).await
}

fn done_props(site: &Site, form: &Form, answers: Option<&Answers>, (next, leaves): (Option<Link>, bool)) -> DoneProps {
    let fields = form.version.fields.iter().filter(|field| !field.hidden);
    let rows = fields.filter_map(|field| Some((field.label.clone(), shown(field, answers?.get(&field.key)?))));
    let again = site.has_cookies && answers.is_none() && form.closed.is_none();
    let again = again.then(|| Link { href: site.action.clone(), text: "Answer again".to_owned() });
    let refresh_to = next.as_ref().filter(|_| leaves).map(|next| next.href.clone());
    DoneProps {
        frame: Frame { refresh_to, ..site.frame.clone() },
        title: form.version.title.clone(),
        thanks: form.version.publication.thanks.clone(),
        next,
        answers: rows.collect(),
        back: site.back.clone().or(again),
    }
}

/// Submits the posted form. What the page shows of a form is only read if it is shown again.
pub async fn submit(state: &AppState, site: Site, posted: &PostedForm) -> Result<Response, PageRejection> {
    let submission_id = posted.own("_id").map(str::to_owned).unwrap_or_else(|| state.ledger.request_id().to_string());
    let error = match send(state, &site, posted, submission_id.clone()).await {
        Ok((version, sent)) => return after(state, &site, &version.publication, sent).await,
        Err(error) => error,
    };
    let form = match open(state, &site, Use::Submission).await {
        Ok(form) => form,
        Err(instead) => return *instead,
    };
    let typed = Shown::typed(posted, &form.version.fields);
    // A save of the same answers may have come first.
    let saved = form.draft.as_ref().filter(|draft| draft.answers == typed.answers).map(|draft| draft.rev);
    let typed = Shown { rev: saved.unwrap_or(typed.rev), submission_id: Some(submission_id), ..typed };
    refused(state, site, form, typed, error).await
}

/// Records the posted answers, read by the fields of the version that the page was made from.
async fn send(
    state: &AppState,
    site: &Site,
    posted: &PostedForm,
    submission_id: String,
) -> ledger::Result<(Arc<ViewVersionRecord>, Submitted)> {
    if posted.is_trapped() {
        return Err(Error::Invalid(vec![Issue::new("", TRAPPED)]));
    }
    let (ledger, seen) = (&state.ledger, posted.number("_version"));
    let version = response::version(ledger, &site.respondent, (site.view_id, site.request_id), seen).await?;
    let submission = Submission {
        request_id: site.request_id,
        version: seen,
        rev: posted.number("_rev").filter(|_| site.has_cookies),
        submission_id,
        answers: posted.answers(&version.fields),
    };
    Ok((version, response::submit(ledger, &site.respondent, site.view_id, submission).await?))
}

/// The answer to a recorded submission: a redirect, so that a reload does not post again. A page in a frame has no
/// cookies and answers at once.
///
/// The page of another server is opened by the page of thanks, with a refresh and a link. Chromium applies the
/// `form-action 'self'` of the form's page to redirects after posting, and would stop at another host without a word.
/// Naming the host in `form-action` would let that page send what is typed to another server.
async fn after(
    state: &AppState,
    site: &Site,
    publication: &Publication,
    sent: Submitted,
) -> Result<Response, PageRejection> {
    if let Some(path) = publication.redirect_url.as_ref().filter(|_| publication.redirect_host().is_none()) {
        return Ok(Redirect::to(path).into_response());
    }
    if site.has_cookies {
        return Ok(to_done(site));
    }
    match open(state, site, Use::Submission).await {
        Ok(form) => Ok(done(state, site, &form, Some(&sent.response.answers), true).await),
        Err(instead) => *instead,
    }
}

fn to_done(site: &Site) -> Response {
    Redirect::to(&format!("{}?_done", site.action)).into_response()
}

/// Responds to posted answers that were refused: mostly with the form, what was typed and the reason.
async fn refused(
    state: &AppState,
    site: Site,
    form: Form,
    typed: Shown,
    error: Error,
) -> Result<Response, PageRejection> {
    match Refusal::of(error, &form, site.has_cookies, typed) {
        Refusal::Again(status, shown) => Ok(question_page(state, site, form, shown, status).await),
        Refusal::Recorded => Ok(to_done(&site)),
        Refusal::Closed(reason) => Ok(closed(site.frame, site.says_why.then_some(reason), site.back).await),
        Refusal::Failed(error) => Err(error.into()),
    }
}

/// Shows the form again because too much was sent.
pub async fn too_often(state: &AppState, site: Site, posted: &PostedForm) -> Result<Response, PageRejection> {
    let form = match open(state, &site, Use::Submission).await {
        Ok(form) => form,
        Err(instead) => return *instead,
    };
    let shown = Shown { note: Some(Note::TooOften), ..Shown::typed(posted, &form.version.fields) };
    let mut response = question_page(state, site, form, shown, StatusCode::TOO_MANY_REQUESTS).await;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    Ok(response)
}

/// Saves the posted form as a draft. A script gets what it shows then.
pub async fn save(state: &AppState, site: Site, visit: &Visit, posted: &PostedForm) -> Result<Response, PageRejection> {
    let by_script = visit.is_by_script();
    let form = match open(state, &site, Use::Answer).await {
        Ok(form) => form,
        Err(_) if by_script => return Err(Problem::new(wire::Code::NotFound).into()),
        Err(instead) => return *instead,
    };
    let typed = Shown::typed(posted, &form.version.fields);
    let (request_id, rev, answers) = (site.request_id, typed.rev, typed.answers.clone());
    let save = DraftSave { request_id, rev, answers, is_leaving: posted.own("_leaving").is_some() };
    match response::save_draft(&state.ledger, &site.respondent, site.view_id, save).await {
        Ok(draft) if by_script => Ok(Json(saved(&form.version.fields, &draft)).into_response()),
        Ok(_) => Ok(Redirect::to(&format!("{}?_saved", site.action)).into_response()),
        Err(error) if by_script => Err(error.into()),
        Err(error) => refused(state, site, form, typed, error).await,
    }
}

/// What a script gets of a saved draft: its `rev`, and the keys of the questions that do not apply.
fn saved(fields: &[Field], draft: &ResponseRecord) -> Value {
    let applying = applicable(fields, &draft.answers);
    let off = fields.iter().filter(|field| !applying.contains(field)).map(|field| field.key.as_str());
    json!({ "rev": draft.rev, "off": off.collect::<Vec<_>>() })
}
