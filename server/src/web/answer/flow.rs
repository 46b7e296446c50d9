//! What the pages of forms share: showing the questions, saving drafts, submitting.

use super::{
    posted_form::PostedForm,
    question_page::{FilledForm, question_page},
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
    view::{Answers, Field, Publication, applicable, display_text},
};
use ledger::{
    Error, ResponseRecord, ViewVersionRecord,
    response::{self, DraftSave, Form, Submission, Submitted},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The refusal of a form whose hidden field a program filled in.
pub const TRAPPED: &str = "A field that has to stay empty was filled in. Submit the form once more.";

/// Value of `_done` in the address to which a late submission leads.
const LATE: &str = "late";

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
    let found = response::read(&state.ledger, &site.respondent, site.view_id, site.request_id).await;
    match usable(found, of, site.says_why) {
        Ok(form) => Ok(form),
        Err(Error::FormClosed(reason)) => {
            let reason = site.says_why.then_some(reason);
            Err(Box::new(Ok(closed(site.frame.clone(), reason, site.back.clone()).await)))
        }
        Err(error) => Err(Box::new(Err(error.into()))),
    }
}

/// Returns the form if the request may use it. [`Error::FormClosed`] says why it may not. On a page that does not say
/// why, a form that is not found is one that is not published.
fn usable(found: ledger::Result<Form>, of: Use, says_why: bool) -> ledger::Result<Form> {
    match found {
        Ok(form) => match form.closed {
            None | Some(Closed::Answered) => Ok(form),
            Some(_) if of == Use::Submission && form.has_answered => Ok(form),
            Some(closed) => Err(Error::FormClosed(closed)),
        },
        Err(Error::NotFound(_)) if !says_why => Err(Error::FormClosed(Closed::NotPublished)),
        Err(error) => Err(error),
    }
}

/// Whether a query has a field with this name.
fn has(pairs: &[(String, String)], name: &str) -> bool {
    pairs.iter().any(|(known, _)| known == name)
}

/// Shows the form, or the answers that are recorded. `pairs` are those of the query.
pub async fn show(state: &AppState, site: Site, pairs: &[(String, String)]) -> Result<Response, PageRejection> {
    let of = if has(pairs, "_done") { Use::Submission } else { Use::Answer };
    match open(state, &site, of).await {
        Ok(form) => Ok(opened_page(state, site, form, pairs).await),
        Err(instead) => *instead,
    }
}

/// The page of a form that can be used: the answers that are recorded, or the questions.
async fn opened_page(state: &AppState, site: Site, form: Form, pairs: &[(String, String)]) -> Response {
    // Who opens the form again later stays here to read the answers. The address may also have been passed on to
    // someone who has not answered.
    let has_sent = has(pairs, "_done") && form.has_answered;
    let recorded = form.submitted.as_ref().map(|submitted| &submitted.answers);
    if has_sent || recorded.is_some() {
        let late = form.submitted.as_ref().is_some_and(|submitted| submitted.late) || is_late(pairs);
        return done(state, &site, &form, Sent { answers: recorded, leaves: has_sent && !late, late }).await;
    }
    let shown = shown_again(&form, pairs);
    question_page(state, site, form, shown, StatusCode::OK).await
}

/// What the questions show when the form is opened, with a word about a draft that was just saved.
fn shown_again(form: &Form, pairs: &[(String, String)]) -> FilledForm {
    let note = (has(pairs, "_saved") && form.draft.is_some()).then_some(Note::Saved);
    FilledForm { note, ..FilledForm::opened(form, pairs) }
}

/// The page of another server with which respondents of the form continue, if the operator still allows its host.
fn next_page(state: &AppState, form: &Form) -> Option<Link> {
    let publication = &form.version.publication;
    let (host, href) = publication.redirect_host().zip(publication.redirect_url.clone())?;
    let text = format!("Continue to {host}");
    state.ledger.allows_redirect(publication).then_some(Link { href, text })
}

/// What the page after a submission is about.
struct Sent<'a> {
    /// The answers that are recorded, if the page shows them.
    answers: Option<&'a Answers>,
    /// Whether the page of another server that the form names opens next.
    leaves: bool,
    /// Whether the answers came too late for the agent that asked.
    late: bool,
}

/// Whether the address is the one to which a late submission leads.
fn is_late(pairs: &[(String, String)]) -> bool {
    pairs.iter().any(|(name, value)| name == "_done" && value == LATE)
}

/// The page that says that the answers are recorded.
async fn done(state: &AppState, site: &Site, form: &Form, sent: Sent<'_>) -> Response {
    let props = done_props(site, form, sent, next_page(state, form));
    render(StatusCode::OK, move || ui::done_page(&props)).await
}

fn done_props(site: &Site, form: &Form, Sent { answers, leaves, late }: Sent<'_>, next: Option<Link>) -> DoneProps {
    let fields = form.version.fields.iter().filter(|field| !field.hidden);
    let rows = fields.filter_map(|field| Some((field.label.clone(), display_text(field, answers?.get(&field.key)?))));
    let again = site.has_cookies && answers.is_none() && form.closed.is_none();
    let again = again.then(|| Link { href: site.action.clone(), text: "Answer again".to_owned() });
    let refresh_to = next.as_ref().filter(|_| leaves).map(|next| next.href.clone());
    DoneProps {
        frame: Frame { refresh_to, ..site.frame.clone() },
        title: form.version.title.clone(),
        thanks: form.version.publication.thanks.clone(),
        late,
        next,
        answers: rows.collect(),
        back: site.back.clone().or(again),
    }
}

/// Submits the posted form.
pub async fn submit(state: &AppState, site: Site, posted: &PostedForm) -> Result<Response, PageRejection> {
    let submission_id = posted.own("_id").map(str::to_owned).unwrap_or_else(|| state.ledger.request_id().to_string());
    match send(state, &site, posted, submission_id.clone()).await {
        Ok((version, sent)) => after(state, &site, &version.publication, sent).await,
        Err(error) => not_sent(state, site, (posted, submission_id), error).await,
    }
}

/// Responds to a submission that was refused. What the page shows of a form is only read if it is shown again.
async fn not_sent(
    state: &AppState,
    site: Site,
    (posted, submission_id): (&PostedForm, String),
    error: Error,
) -> Result<Response, PageRejection> {
    match open(state, &site, Use::Submission).await {
        Ok(form) => {
            let typed = FilledForm::sent(posted, &form, submission_id);
            refused(state, site, form, typed, error).await
        }
        Err(instead) => *instead,
    }
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
    let submission = submission(site, posted, &version.fields, submission_id);
    Ok((version, response::submit(ledger, &site.respondent, site.view_id, submission).await?))
}

/// The posted answers to these fields. A page without cookies has no draft that they could be based on.
fn submission(site: &Site, posted: &PostedForm, fields: &[Field], submission_id: String) -> Submission {
    Submission {
        request_id: site.request_id,
        version: posted.number("_version"),
        rev: posted.number("_rev").filter(|_| site.has_cookies),
        submission_id,
        answers: posted.answers(fields),
    }
}

/// The answer to a recorded submission: a redirect, so that a reload does not post again. A page in a frame has no
/// cookies and answers at once.
///
/// The page of another server is opened by the page of thanks, with a refresh and a link. Chromium applies the
/// `form-action 'self'` of the form's page to redirects after posting, and would stop at another host without a word.
/// Naming the host in `form-action` would let that page send the typed text to another server.
async fn after(
    state: &AppState,
    site: &Site,
    publication: &Publication,
    sent: Submitted,
) -> Result<Response, PageRejection> {
    let late = sent.response.late;
    // Who answered too late reads that first.
    let path = publication.redirect_url.as_ref().filter(|_| publication.redirect_host().is_none() && !late);
    match path {
        Some(path) => Ok(Redirect::to(path).into_response()),
        None if site.has_cookies => Ok(to_done(site, late)),
        None => done_in_frame(state, site, &sent).await,
    }
}

/// The page after a submission in a frame, where the answers are shown at once.
async fn done_in_frame(state: &AppState, site: &Site, sent: &Submitted) -> Result<Response, PageRejection> {
    let (answers, late) = (Some(&sent.response.answers), sent.response.late);
    match open(state, site, Use::Submission).await {
        Ok(form) => Ok(done(state, site, &form, Sent { answers, leaves: !late, late }).await),
        Err(instead) => *instead,
    }
}

fn to_done(site: &Site, late: bool) -> Response {
    let late = if late { format!("={LATE}") } else { String::new() };
    Redirect::to(&format!("{}?_done{late}", site.action)).into_response()
}

/// Responds to posted answers that were refused: mostly with the form, the typed text and the reason.
async fn refused(
    state: &AppState,
    site: Site,
    form: Form,
    typed: FilledForm,
    error: Error,
) -> Result<Response, PageRejection> {
    match Refusal::of(error, &form, site.has_cookies, typed) {
        Refusal::Again(status, shown) => Ok(question_page(state, site, form, shown, status).await),
        Refusal::Recorded => Ok(to_done(&site, false)),
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
    let shown = FilledForm { note: Some(Note::TooOften), ..FilledForm::typed(posted, &form.version.fields) };
    let mut response = question_page(state, site, form, shown, StatusCode::TOO_MANY_REQUESTS).await;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    Ok(response)
}

/// Saves the posted form as a draft. A script gets what it shows then, a person without scripts a page.
pub async fn save(state: &AppState, site: Site, visit: &Visit, posted: &PostedForm) -> Result<Response, PageRejection> {
    match visit.is_by_script() {
        true => Ok(Json(save_for_script(state, &site, posted).await?).into_response()),
        false => save_for_page(state, site, posted).await,
    }
}

/// Saves for a script. A form that cannot be used is not found.
async fn save_for_script(state: &AppState, site: &Site, posted: &PostedForm) -> Result<Value, PageRejection> {
    let Ok(form) = open(state, site, Use::Answer).await else { return Err(Problem::new(wire::Code::NotFound).into()) };
    let typed = FilledForm::typed(posted, &form.version.fields);
    let draft = save_draft(state, site, posted, &typed).await?;
    Ok(saved(&form.version.fields, &draft))
}

/// Saves for a page, which shows a refused form again.
async fn save_for_page(state: &AppState, site: Site, posted: &PostedForm) -> Result<Response, PageRejection> {
    let form = match open(state, &site, Use::Answer).await {
        Ok(form) => form,
        Err(instead) => return *instead,
    };
    let typed = FilledForm::typed(posted, &form.version.fields);
    match save_draft(state, &site, posted, &typed).await {
        Ok(_) => Ok(Redirect::to(&format!("{}?_saved", site.action)).into_response()),
        Err(error) => refused(state, site, form, typed, error).await,
    }
}

/// Keeps the typed text.
async fn save_draft(
    state: &AppState,
    site: &Site,
    posted: &PostedForm,
    typed: &FilledForm,
) -> ledger::Result<ResponseRecord> {
    let (request_id, rev, answers) = (site.request_id, typed.rev, typed.answers.clone());
    let save = DraftSave { request_id, rev, answers, is_leaving: posted.own("_leaving").is_some() };
    response::save_draft(&state.ledger, &site.respondent, site.view_id, save).await
}

/// What a script gets of a saved draft: its `rev`, and the keys of the questions that do not apply.
fn saved(fields: &[Field], draft: &ResponseRecord) -> Value {
    json!({ "rev": draft.rev, "off": off(fields, &draft.answers) })
}

/// The keys of the questions that do not apply to these answers.
fn off<'a>(fields: &'a [Field], answers: &Answers) -> Vec<&'a str> {
    let applying = applicable(fields, answers);
    fields.iter().filter(|field| !applying.contains(field)).map(|field| field.key.as_str()).collect()
}

/// What a script gets of a form without drafts: the keys of the questions that do not apply to what was posted. Nothing
/// is recorded. A form that cannot be used is not found.
pub async fn not_applying(state: &AppState, site: &Site, posted: &PostedForm) -> Result<Value, PageRejection> {
    let Ok(form) = open(state, site, Use::Answer).await else { return Err(Problem::new(wire::Code::NotFound).into()) };
    let fields = &form.version.fields;
    Ok(json!({ "off": off(fields, &posted.answers(fields)) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::ViewId;

    fn form(closed: Option<Closed>, has_answered: bool) -> ledger::Result<Form> {
        let version = ViewVersionRecord {
            view_id: ViewId(uuid::Uuid::nil()),
            version: 1,
            title: String::new(),
            introduction: String::new(),
            fields: Vec::new(),
            publication: Publication::default(),
            published_by: String::new(),
            published_at: Default::default(),
        };
        Ok(Form { version, closed, asks_lead: false, draft: None, submitted: None, has_answered })
    }

    #[test]
    fn a_closed_form_is_only_used_by_who_has_answered_it() {
        let reason = |found, of, says_why| match usable(found, of, says_why) {
            Ok(_) => None,
            Err(Error::FormClosed(reason)) => Some(reason),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(reason(form(None, false), Use::Answer, true), None);
        assert_eq!(reason(form(Some(Closed::Answered), true), Use::Answer, true), None);
        assert_eq!(reason(form(Some(Closed::Over), true), Use::Answer, true), Some(Closed::Over));
        assert_eq!(reason(form(Some(Closed::Over), true), Use::Submission, true), None);
        assert_eq!(reason(form(Some(Closed::Over), false), Use::Submission, true), Some(Closed::Over));
        let missing = || Err(Error::NotFound("view"));
        assert_eq!(reason(missing(), Use::Answer, false), Some(Closed::NotPublished));
        assert!(matches!(usable(missing(), Use::Answer, true), Err(Error::NotFound(_))));
    }
}
