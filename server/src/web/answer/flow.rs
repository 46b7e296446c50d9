//! What the pages of forms share: showing the questions, saving drafts, submitting.

use super::posted_form::PostedForm;
use crate::{
    cookie,
    nonce::Nonce,
    problem::Problem,
    state::AppState,
    web::shell::{PageRejection, render},
};
use app::{
    Theme,
    form_page::{self as ui, ClosedProps, DoneProps, EntityOptions, Frame, Link, Note, Props},
};
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use domain::{
    id::ViewId,
    issue::Issue,
    response::Closed,
    view::{Answers, Field, Publication, applicable, defaults, prefill, shown},
};
use ledger::{
    Error, ViewVersionRecord,
    response::{self, DraftSave, Form, Respondent, Submission, Submitted},
};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

/// The refusal of a form whose hidden field a program filled in.
pub const TRAPPED: &str = "A field that has to stay empty was filled in. Submit the form once more.";

/// Where a form is: who answers it, and the address and fields of its page.
pub struct Site {
    pub respondent: Respondent,
    pub view_id: ViewId,
    pub request_id: Option<Uuid>,
    /// Path that the form is posted to.
    pub action: String,
    /// Fields that the page carries.
    pub hidden: Vec<(String, String)>,
    pub frame: Frame,
    /// Link at the end of the page.
    pub back: Option<Link>,
    /// Whether the respondent may know why the form takes no answer.
    pub says_why: bool,
    /// Whether the browser keeps cookies of this page, so that it can come back to it.
    pub has_cookies: bool,
    pub entities: EntityOptions,
}

/// The paths and settings of a form's page.
pub fn frame(state: &AppState, headers: &HeaderMap, nonce: Option<&Nonce>) -> Frame {
    let href = |name| state.assets.path(name).unwrap_or_default();
    let theme = match cookie::theme(headers) {
        Some(cookie::Theme::Light) => Theme::Light,
        Some(cookie::Theme::Dark) => Theme::Dark,
        None => Theme::System,
    };
    let nonce = nonce.map(|nonce| nonce.as_str().to_owned()).unwrap_or_default();
    Frame { css_href: href("form-css"), js_href: href("form-js"), nonce, theme, refresh_to: None, embedded_in: None }
}

/// The page of a form that takes no answer. Without a reason it is the same for every reason.
pub async fn closed(frame: Frame, reason: Option<Closed>, back: Option<Link>) -> Response {
    let status = if reason.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let reason = reason.map(|closed| {
        let text = closed.to_string();
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{}.", letters.as_str())
    });
    render(status, move || ui::closed_page(&ClosedProps { frame, reason, back })).await
}

/// What is shown of a form beside its questions.
#[derive(Default)]
struct Shown {
    answers: Answers,
    issues: Vec<Issue>,
    note: Option<Note>,
    rev: u64,
    submission_id: Option<String>,
}

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

/// Shows the form: the draft, or the defaults and what the link gives. `pairs` are those of the query. What they give
/// to fields that the form does not show replaces that of the draft.
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
    if let Some(submitted) = &form.submitted {
        return Ok(done(state, &site, &form, Some(&submitted.answers), has_sent).await);
    }
    if has_sent {
        return Ok(done(state, &site, &form, None, has_sent).await);
    }
    let given = prefill(&form.version.fields, pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let shown = match &form.draft {
        Some(draft) => {
            let mut answers = draft.answers.clone();
            // Nobody sees that a hidden answer is that of an earlier address.
            let is_hidden = |key: &str| form.version.fields.iter().any(|field| field.hidden && field.key == key);
            answers.extend(given.into_iter().filter(|(key, _)| is_hidden(key)));
            Shown { answers, rev: draft.rev, ..Shown::default() }
        }
        None => {
            let mut answers = defaults(&form.version.fields);
            answers.extend(given);
            Shown { answers, ..Shown::default() }
        }
    };
    let note = (has("_saved") && form.draft.is_some()).then_some(Note::Saved);
    Ok(questions(state, site, form, Shown { note, ..shown }, StatusCode::OK).await)
}

async fn questions(state: &AppState, site: Site, form: Form, shown: Shown, status: StatusCode) -> Response {
    let submission_id = shown.submission_id.unwrap_or_else(|| state.ledger.request_id().to_string());
    let mut hidden = site.hidden;
    hidden.push(("_rev".into(), shown.rev.to_string()));
    hidden.push(("_version".into(), form.version.version.to_string()));
    hidden.push(("_id".into(), submission_id));
    hidden.extend(hidden_answers(&form.version.fields, &shown.answers));
    let props = Props {
        frame: site.frame,
        title: form.version.title,
        introduction: form.version.introduction,
        fields: form.version.fields,
        answers: shown.answers,
        issues: shown.issues,
        note: shown.note,
        action: site.action,
        has_drafts: site.has_cookies,
        hidden,
        entities: site.entities,
        back: site.back,
    };
    render(status, move || ui::page(&props)).await
}

/// The answers of fields that the form does not show, as fields that it carries.
fn hidden_answers(fields: &[Field], answers: &Answers) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut pairs = Vec::new();
    for field in fields.iter().filter(|field| field.hidden) {
        match answers.get(&field.key) {
            None => {}
            Some(serde_json::Value::Array(list)) => {
                pairs.extend(list.iter().map(|value| (field.key.clone(), text(value))));
            }
            Some(serde_json::Value::Object(rating)) => {
                pairs.extend(rating.iter().map(|(slug, value)| (format!("{}.{slug}", field.key), text(value))));
            }
            Some(value) => pairs.push((field.key.clone(), text(value))),
        }
    }
    pairs
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
    let fields = form.version.fields.iter().filter(|field| !field.hidden);
    let rows = fields.filter_map(|field| Some((field.label.clone(), shown(field, answers?.get(&field.key)?))));
    let again = site.has_cookies && answers.is_none() && form.closed.is_none();
    let again = again.then(|| Link { href: site.action.clone(), text: "Answer again".to_owned() });
    let next = next_page(state, form);
    let refresh_to = next.as_ref().filter(|_| leaves).map(|next| next.href.clone());
    let props = DoneProps {
        frame: Frame { refresh_to, ..site.frame.clone() },
        title: form.version.title.clone(),
        thanks: form.version.publication.thanks.clone(),
        next,
        answers: rows.collect(),
        back: site.back.clone().or(again),
    };
    render(StatusCode::OK, move || ui::done_page(&props)).await
}

/// Submits the posted form. What the page shows of a form is only read if it is shown again.
pub async fn submit(state: &AppState, site: Site, posted: &PostedForm) -> Result<Response, PageRejection> {
    let submission_id = posted.own("_id").map(str::to_owned).unwrap_or_else(|| state.ledger.request_id().to_string());
    let sent = match posted.is_trapped() {
        true => Err(None),
        false => send(state, &site, posted, submission_id.clone()).await.map_err(Some),
    };
    let error = match sent {
        Ok((version, sent)) => return after(state, &site, &version.publication, sent).await,
        Err(error) => error,
    };
    let form = match open(state, &site, Use::Submission).await {
        Ok(form) => form,
        Err(instead) => return *instead,
    };
    let answers = posted.answers(&form.version.fields);
    // A save of the same answers may have come first.
    let saved = form.draft.as_ref().filter(|draft| draft.answers == answers).map(|draft| draft.rev);
    let kept = Shown {
        answers: answers.clone(),
        rev: saved.or(posted.number("_rev")).unwrap_or(0),
        submission_id: Some(submission_id),
        ..Shown::default()
    };
    let Some(error) = error else {
        let issues = vec![Issue::new("", TRAPPED)];
        return Ok(questions(state, site, form, Shown { issues, ..kept }, StatusCode::UNPROCESSABLE_ENTITY).await);
    };
    refused(state, site, form, kept, error).await
}

/// Records the posted answers, read by the fields of the version that the page was made from.
async fn send(
    state: &AppState,
    site: &Site,
    posted: &PostedForm,
    submission_id: String,
) -> ledger::Result<(Arc<ViewVersionRecord>, Submitted)> {
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

/// Shows the form again with what was typed and why it was refused.
async fn refused(
    state: &AppState,
    site: Site,
    form: Form,
    kept: Shown,
    error: Error,
) -> Result<Response, PageRejection> {
    let (status, shown, form) = match error {
        Error::Invalid(issues) => (StatusCode::UNPROCESSABLE_ENTITY, Shown { issues, ..kept }, form),
        Error::StaleVersion { current, .. } => {
            (StatusCode::CONFLICT, Shown { note: Some(Note::Elsewhere), rev: current, ..kept }, form)
        }
        Error::FormChanged { .. } => (StatusCode::CONFLICT, Shown { note: Some(Note::Changed), ..kept }, form),
        Error::LimitReached(text) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Shown { issues: vec![Issue::new("", text)], ..kept }, form)
        }
        // The browser went back to a form that it had submitted, and changed the answers.
        Error::IdConflict { .. } if form.closed.is_some() && site.has_cookies => return Ok(to_done(&site)),
        // It saved a draft of a form that it had submitted.
        Error::FormClosed(_) if form.submitted.is_some() && site.has_cookies => return Ok(to_done(&site)),
        Error::IdConflict { .. } => {
            let text = "These answers were submitted already. Submit again to send the changed answers as well.";
            let issues = vec![Issue::new("", text)];
            (StatusCode::CONFLICT, Shown { issues, submission_id: None, ..kept }, form)
        }
        Error::RequestClosed { .. } => {
            return Ok(closed(site.frame, site.says_why.then_some(Closed::Cancelled), site.back).await);
        }
        // The respondent answered the question in the inbox or over the API.
        Error::AlreadyAnswered(_) => {
            return Ok(closed(site.frame, site.says_why.then_some(Closed::Answered), site.back).await);
        }
        // The question was answered otherwise.
        Error::GateClosed { .. } => {
            return Ok(closed(site.frame, site.says_why.then_some(Closed::Over), site.back).await);
        }
        Error::FormClosed(reason) => {
            return Ok(closed(site.frame, site.says_why.then_some(reason), site.back).await);
        }
        error => return Err(error.into()),
    };
    Ok(questions(state, site, form, shown, status).await)
}

/// Shows the form again because too much was sent.
pub async fn too_often(state: &AppState, site: Site, posted: &PostedForm) -> Result<Response, PageRejection> {
    let form = match open(state, &site, Use::Submission).await {
        Ok(form) => form,
        Err(instead) => return *instead,
    };
    let shown = Shown {
        answers: posted.answers(&form.version.fields),
        note: Some(Note::TooOften),
        rev: posted.number("_rev").unwrap_or(0),
        submission_id: posted.own("_id").map(str::to_owned),
        ..Shown::default()
    };
    let mut response = questions(state, site, form, shown, StatusCode::TOO_MANY_REQUESTS).await;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    Ok(response)
}

/// Saves the posted form as a draft. A script gets the new `rev` and the keys of the questions that do not apply.
pub async fn save(
    state: &AppState,
    site: Site,
    headers: &HeaderMap,
    posted: &PostedForm,
) -> Result<Response, PageRejection> {
    let by_script = headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json");
    let form = match open(state, &site, Use::Answer).await {
        Ok(form) => form,
        Err(_) if by_script => return Err(Problem::new(wire::Code::NotFound).into()),
        Err(instead) => return *instead,
    };
    let answers = posted.answers(&form.version.fields);
    let rev = posted.number("_rev").unwrap_or(0);
    let save = DraftSave {
        request_id: site.request_id,
        rev,
        answers: answers.clone(),
        is_leaving: posted.own("_leaving").is_some(),
    };
    match response::save_draft(&state.ledger, &site.respondent, site.view_id, save).await {
        Ok(draft) if by_script => {
            let applying = applicable(&form.version.fields, &draft.answers);
            let off: Vec<_> = form.version.fields.iter().filter(|field| !applying.contains(field)).collect();
            let off: Vec<_> = off.into_iter().map(|field| field.key.as_str()).collect();
            Ok(Json(json!({ "rev": draft.rev, "off": off })).into_response())
        }
        Ok(_) => Ok(Redirect::to(&format!("{}?_saved", site.action)).into_response()),
        Err(error) if by_script => Err(error.into()),
        Err(error) => {
            let kept = Shown { answers, rev, submission_id: posted.own("_id").map(str::to_owned), ..Shown::default() };
            refused(state, site, form, kept, error).await
        }
    }
}

/// The slugs of the entity types that the fields refer to, by key.
pub fn entity_types(fields: &[Field]) -> Vec<(String, String)> {
    let of = |field: &Field| Some((field.key.clone(), field.kind.entity_type()?.to_owned()));
    fields.iter().filter_map(of).collect()
}
