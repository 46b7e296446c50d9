//! The form of a link: /f/{secret} exchanges the secret for cookies, /forms/{id} has the form. Every request here
//! counts towards the limits, because each reads the database at least.

use super::{
    flow::{TRAPPED, save, show, submit, too_often},
    posted_form::{PostedForm, query_pairs},
    site::{Site, closed},
    visit::Visit,
};
use crate::{
    problem::Problem,
    state::AppState,
    web::shell::{PageRejection, refuse, render},
};
use app::{
    FieldError, FormState,
    form_page::{self as ui, LeadProps},
};
use axum::{
    Router,
    extract::{Path, RawQuery, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{REFERRER_POLICY, RETRY_AFTER, SET_COOKIE},
    },
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{chain::Digest, id::ViewLinkId, issue::Issue, view::Gate};
use ledger::{
    Error, response,
    view_link::{self, Entered, Entry, NewLead, Visitor},
};
use sha2::{Digest as _, Sha256};
use wire::Code;

/// Seconds after which a person over the limit of requests should try again.
const WAIT_SECONDS: u64 = 60;
/// Longest query that a link passes on to its form, bytes.
const QUERY_BYTES_MAX: usize = 2_048;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/f/{secret}", get(enter))
        .route("/forms/{id}", get(show_form).post(submit_form))
        .route("/forms/{id}/draft", post(save_form))
        .route("/forms/{id}/lead", post(give_lead))
}

/// The key by which requests with the secret of a link are counted. Secrets themselves are not kept in memory.
pub fn secret_key(secret: &str) -> String {
    Digest(Sha256::digest(secret.as_bytes()).into()).to_string()
}

/// The key by which requests with the id of a link are counted. Only an id becomes one, in one spelling, so that the
/// keys stay small and a link has one quota.
fn link_key(id: &str) -> Option<String> {
    id.parse::<ViewLinkId>().ok().map(|link| link.to_string())
}

/// The refusal of a request over a limit.
pub fn too_many_requests() -> Problem {
    Problem::detailed(Code::TooManyRequests, "there were too many requests of people without an account")
        .with_retry_after(WAIT_SECONDS)
}

/// The page in place of a form for a person over the limit of requests. It is the same for every form.
pub async fn wait(state: &AppState, visit: &Visit) -> Response {
    let frame = visit.frame(state);
    no_referrer(refuse(&too_many_requests(), move || ui::wait_page(&frame)).await)
}

/// The page for a link that opens nothing, whatever the reason.
pub async fn gone(state: &AppState, visit: &Visit) -> Response {
    no_referrer(closed(visit.frame(state), None, None).await)
}

/// What was found of a link. `None` if it opens nothing, whatever the reason.
pub fn opened<T>(found: ledger::Result<T>) -> ledger::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound(_) | Error::NoInstanceKey) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The query of a link as its form gets it, with its question mark.
fn passed_on(query: Option<String>) -> String {
    let query = query.filter(|query| query.len() <= QUERY_BYTES_MAX && !query.is_empty());
    query.map(|query| format!("?{query}")).unwrap_or_default()
}

fn no_referrer(mut response: Response) -> Response {
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

async fn enter(
    State(state): State<AppState>,
    visit: Visit,
    Path(secret): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageRejection> {
    if !visit.is_allowed(&state, Some(&secret_key(&secret))) {
        return Ok(wait(&state, &visit).await);
    }
    let browser = state.cookies.respondent(&visit.headers);
    let Some(entered) = opened(view_link::enter(&state.ledger, &secret, browser).await)? else {
        return Ok(gone(&state, &visit).await);
    };
    Ok(to_form(&state, &entered, &passed_on(query))?)
}

/// Redirects to the form of a link, with the cookies that permit its use. Members answer on a page of their own.
fn to_form(state: &AppState, entered: &Entered, query: &str) -> Result<Response, Problem> {
    if entered.gate == Gate::Member {
        return Ok(no_referrer(Redirect::to(&members_form(entered, query)).into_response()));
    }
    let path = format!("/forms/{}", entered.link.id);
    let mut response = no_referrer(Redirect::to(&format!("{path}{query}")).into_response());
    let clearance = state.cookies.set_form(&entered.clearance, &path, entered.expires_at, state.ledger.now());
    for cookie in [state.cookies.set_respondent(&entered.browser), clearance] {
        add_cookie(&mut response, cookie)?;
    }
    Ok(response)
}

/// The path of the form's page for members.
fn members_form(entered: &Entered, query: &str) -> String {
    // An answer to the form of the view would not reach the agent that asks.
    match entered.link.request_id {
        Some(request) => format!("/questions/{request}{query}"),
        None => format!("/views/{}/answer{query}", entered.view_slug),
    }
}

fn add_cookie(response: &mut Response, cookie: Option<HeaderValue>) -> Result<(), Problem> {
    let cookie = cookie.ok_or_else(|| Problem::internal("a form's cookie is not a header value"))?;
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(())
}

fn entry<'a>(state: &AppState, headers: &'a HeaderMap, form_key: Option<&'a str>) -> Entry<'a> {
    Entry {
        browser: state.cookies.respondent(headers),
        clearance: state.cookies.form(headers),
        lead: state.cookies.lead(headers),
        form_key,
        page_id: None,
    }
}

/// The form of a link, if the browser's cookies permit its use. A posted form must carry its key.
async fn site(
    state: &AppState,
    visit: &Visit,
    id: &str,
    form_key: Option<&str>,
) -> Result<Option<Site>, PageRejection> {
    let Ok(link_id) = id.parse::<ViewLinkId>() else { return Ok(None) };
    let entry = entry(state, &visit.headers, form_key);
    let found = opened(view_link::respondent(&state.ledger, link_id, entry).await)?;
    Ok(found.map(|Visitor { link, respondent, form_key }| Site {
        hidden: vec![("_key".to_owned(), form_key)],
        ..Site::of_link(&link, respondent, format!("/forms/{link_id}"), visit.frame(state))
    }))
}

async fn show_form(
    State(state): State<AppState>,
    visit: Visit,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageRejection> {
    if !visit.is_allowed(&state, link_key(&id).as_deref()) {
        return Ok(wait(&state, &visit).await);
    }
    let Some(site) = site(&state, &visit, &id, None).await? else { return Ok(gone(&state, &visit).await) };
    match response::read(&state.ledger, &site.respondent, site.view_id, site.request_id).await {
        Ok(form) if form.asks_lead && form.closed.is_none() => {
            Ok(lead_page(&state, site, form, StatusCode::OK, FormState::default(), &passed_on(query)).await)
        }
        _ => show(&state, site, &query_pairs(query.as_deref())).await,
    }
}

/// The page that asks for a name and an e-mail address. The form after it gets `query`.
async fn lead_page(
    state: &AppState,
    site: Site,
    form: response::Form,
    status: StatusCode,
    typed: FormState,
    query: &str,
) -> Response {
    let page_id = state.ledger.request_id().to_string();
    let props = lead_props(site, form, page_id, typed, query);
    render(status, move || ui::lead_page(&props)).await
}

fn lead_props(site: Site, form: response::Form, page_id: String, typed: FormState, query: &str) -> LeadProps {
    let mut hidden = site.hidden;
    hidden.push(("_id".to_owned(), page_id));
    LeadProps {
        frame: site.frame,
        title: form.version.title,
        introduction: form.version.introduction,
        action: format!("{}/lead{query}", site.action),
        hidden,
        form: typed,
    }
}

async fn submit_form(
    State(state): State<AppState>,
    visit: Visit,
    Path(id): Path<String>,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let Some(site) = posted_site(&state, &visit, &id, &posted).await? else { return Ok(gone(&state, &visit).await) };
    if !visit.is_allowed(&state, link_key(&id).as_deref()) {
        return too_often(&state, site, &posted).await;
    }
    submit(&state, site, &posted).await
}

async fn save_form(
    State(state): State<AppState>,
    visit: Visit,
    Path(id): Path<String>,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let Some(site) = posted_site(&state, &visit, &id, &posted).await? else { return Ok(gone(&state, &visit).await) };
    if !visit.is_allowed(&state, link_key(&id).as_deref()) {
        if visit.is_by_script() {
            return Err(too_many_requests().into());
        }
        return too_often(&state, site, &posted).await;
    }
    save(&state, site, &visit, &posted).await
}

/// The form that a page posted. Without its key it is no one's.
async fn posted_site(
    state: &AppState,
    visit: &Visit,
    id: &str,
    posted: &PostedForm,
) -> Result<Option<Site>, PageRejection> {
    site(state, visit, id, Some(posted.own("_key").unwrap_or_default())).await
}

async fn give_lead(
    State(state): State<AppState>,
    visit: Visit,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let Some(site) = posted_site(&state, &visit, &id, &posted).await? else { return Ok(gone(&state, &visit).await) };
    let query = passed_on(query);
    match capture_lead(&state, &visit, &id, &posted).await {
        Ok(cookie) => Ok(lead_given(&state, &site, &query, &cookie)?),
        Err(Error::FormClosed(_) | Error::NotFound(_)) => Ok(gone(&state, &visit).await),
        Err(error) => {
            let (status, typed) = refused_lead(&posted, error)?;
            Ok(lead_again(&state, &visit, site, status, typed, &query).await)
        }
    }
}

/// Redirects to the form, with the cookie that connects the browser to the given name and address.
fn lead_given(state: &AppState, site: &Site, query: &str, cookie: &str) -> Result<Response, Problem> {
    let mut response = Redirect::to(&format!("{}{query}", site.action)).into_response();
    add_cookie(&mut response, state.cookies.set_lead(cookie, &site.action))?;
    Ok(response)
}

/// Records the posted name and address, unless there are too many requests or a program filled in the form. Returns the
/// value of the cookie that connects the browser to them.
async fn capture_lead(state: &AppState, visit: &Visit, id: &str, posted: &PostedForm) -> ledger::Result<String> {
    let link_id: ViewLinkId = id.parse().map_err(|_| Error::NotFound("form"))?;
    if !visit.is_allowed(state, link_key(id).as_deref()) {
        return Err(Error::LimitReached("There were too many requests. Wait a minute and try again.".into()));
    }
    if posted.is_trapped() {
        return Err(Error::Invalid(vec![Issue::new("", TRAPPED)]));
    }
    let new = new_lead(posted);
    let entry = Entry { page_id: posted.own("_id"), ..entry(state, &visit.headers, posted.own("_key")) };
    view_link::capture_lead(&state.ledger, link_id, entry, new).await
}

/// The name and the address as they were typed.
fn new_lead(posted: &PostedForm) -> NewLead {
    let text = |name: &str| posted.own(name).unwrap_or_default().to_owned();
    NewLead { name: text("name"), email: text("email") }
}

/// The refused name and address for the page that asks again, and its status. `Err` has an error that the page does not
/// show.
fn refused_lead(posted: &PostedForm, error: Error) -> ledger::Result<(StatusCode, FormState)> {
    let (status, errors) = lead_errors(error)?;
    let NewLead { name, email } = new_lead(posted);
    let values = [("name".to_owned(), name), ("email".to_owned(), email)].into();
    Ok((status, FormState { values, errors, ..FormState::default() }))
}

/// What the page says of a refused name and address, and its status. `Err` has an error that the page does not show.
fn lead_errors(error: Error) -> ledger::Result<(StatusCode, Vec<FieldError>)> {
    match error {
        Error::Invalid(issues) => {
            let named = |field: String| (!field.is_empty()).then_some(field);
            let each = issues.into_iter().map(|issue| FieldError { field: named(issue.field), message: issue.message });
            Ok((StatusCode::UNPROCESSABLE_ENTITY, each.collect()))
        }
        Error::LimitReached(message) => Ok((StatusCode::TOO_MANY_REQUESTS, vec![FieldError { field: None, message }])),
        error => Err(error),
    }
}

/// The page that asks for a name and an address again, with what was refused.
async fn lead_again(
    state: &AppState,
    visit: &Visit,
    site: Site,
    status: StatusCode,
    typed: FormState,
    query: &str,
) -> Response {
    let form = response::read(&state.ledger, &site.respondent, site.view_id, site.request_id).await;
    let Ok(form) = form else { return gone(state, visit).await };
    let mut response = lead_page(state, site, form, status, typed, query).await;
    if status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(WAIT_SECONDS));
    }
    response
}
