//! The form of a link: /f/{secret} exchanges the secret for cookies, /forms/{id} has the form. Every request here
//! counts towards the limits, because each reads the database at least.

use super::{
    flow::{Site, TRAPPED, closed, frame, save, show, submit, too_often},
    posted_form::{PostedForm, query_pairs},
};
use crate::{
    form_limit::address,
    host::Peer,
    nonce::Nonce,
    problem::Problem,
    state::AppState,
    web::shell::{PageRejection, refuse, render},
};
use app::{
    FieldError, FormState,
    form_page::{self as ui, EntityOptions, LeadProps},
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
    view_link::{self, Entry, NewLead},
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

/// The parts of a request that every handler here needs.
pub struct Visit {
    pub headers: HeaderMap,
    pub nonce: Option<Nonce>,
    pub peer: Option<Peer>,
}

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Visit {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self, Self::Rejection> {
        let (nonce, peer) = (parts.extensions.get().cloned(), parts.extensions.get().copied());
        Ok(Self { headers: parts.headers.clone(), nonce, peer })
    }
}

impl Visit {
    pub fn frame(&self, state: &AppState) -> ui::Frame {
        frame(state, &self.headers, self.nonce.as_ref())
    }

    /// Counts a request. Returns whether it is allowed.
    pub fn is_allowed(&self, state: &AppState, link: Option<&str>) -> bool {
        let browser = state.cookies.respondent(&self.headers);
        state.form_limits.allows(address(self.peer, &self.headers), browser, link)
    }
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
fn too_many_requests() -> Problem {
    Problem::detailed(Code::TooManyRequests, "there were too many requests for forms").with_retry_after(WAIT_SECONDS)
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
    let entered = match view_link::enter(&state.ledger, &secret, browser).await {
        Ok(entered) => entered,
        Err(Error::NotFound(_) | Error::NoInstanceKey) => return Ok(gone(&state, &visit).await),
        Err(error) => return Err(error.into()),
    };
    let query = passed_on(query);
    if entered.gate == Gate::Member {
        // An answer to the form of the view would not reach the agent that asks.
        let target = match entered.link.request_id {
            Some(request) => format!("/questions/{request}{query}"),
            None => format!("/views/{}/answer{query}", entered.view_slug),
        };
        return Ok(no_referrer(Redirect::to(&target).into_response()));
    }
    let path = format!("/forms/{}", entered.link.id);
    let mut response = no_referrer(Redirect::to(&format!("{path}{query}")).into_response());
    let clearance = state.cookies.set_form(&entered.clearance, &path, entered.expires_at, state.ledger.now());
    for cookie in [state.cookies.set_respondent(&entered.browser), clearance] {
        let cookie = cookie.ok_or_else(|| Problem::internal("a form's cookie is not a header value"))?;
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
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
    let (link, respondent, key) = match view_link::respondent(&state.ledger, link_id, entry).await {
        Ok(found) => found,
        Err(Error::NotFound(_) | Error::NoInstanceKey) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(Some(Site {
        respondent,
        view_id: link.view_id,
        request_id: link.request_id,
        action: format!("/forms/{link_id}"),
        hidden: vec![("_key".to_owned(), key)],
        frame: visit.frame(state),
        back: None,
        says_why: false,
        has_cookies: true,
        entities: EntityOptions::new(),
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
    let mut hidden = site.hidden;
    hidden.push(("_id".to_owned(), state.ledger.request_id().to_string()));
    let props = LeadProps {
        frame: site.frame,
        title: form.version.title,
        introduction: form.version.introduction,
        action: format!("{}/lead{query}", site.action),
        hidden,
        form: typed,
    };
    render(status, move || ui::lead_page(&props)).await
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
        let by_script = visit.headers.get("accept").is_some_and(|accept| accept == "application/json");
        if by_script {
            return Err(too_many_requests().into());
        }
        return too_often(&state, site, &posted).await;
    }
    save(&state, site, &visit.headers, &posted).await
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
    let Ok(link_id) = id.parse::<ViewLinkId>() else { return Ok(gone(&state, &visit).await) };
    let query = passed_on(query);
    let allowed = visit.is_allowed(&state, link_key(&id).as_deref());
    let text = |name: &str| posted.own(name).unwrap_or_default().to_owned();
    let new = NewLead { name: text("name"), email: text("email") };
    let mut typed = FormState::default();
    typed.values.extend([("name".to_owned(), new.name.clone()), ("email".to_owned(), new.email.clone())]);
    let entry = Entry { page_id: posted.own("_id"), ..entry(&state, &visit.headers, posted.own("_key")) };
    let outcome = match (allowed, posted.is_trapped()) {
        (false, _) => Err(Error::LimitReached("There were too many requests. Wait a minute and try again.".into())),
        (true, true) => Err(Error::Invalid(vec![Issue::new("", TRAPPED)])),
        (true, false) => view_link::capture_lead(&state.ledger, link_id, entry, new).await,
    };
    let (status, errors) = match outcome {
        Ok(cookie) => {
            let path = site.action.clone();
            let cookie = state.cookies.set_lead(&cookie, &path);
            let cookie = cookie.ok_or_else(|| Problem::internal("a form's cookie is not a header value"))?;
            let mut response = Redirect::to(&format!("{path}{query}")).into_response();
            response.headers_mut().append(SET_COOKIE, cookie);
            return Ok(response);
        }
        Err(Error::Invalid(issues)) => {
            let named = |field: String| (!field.is_empty()).then_some(field);
            let each = issues.into_iter().map(|issue| FieldError { field: named(issue.field), message: issue.message });
            (StatusCode::UNPROCESSABLE_ENTITY, each.collect())
        }
        Err(Error::LimitReached(message)) => (StatusCode::TOO_MANY_REQUESTS, vec![FieldError { field: None, message }]),
        Err(Error::FormClosed(_) | Error::NotFound(_)) => return Ok(gone(&state, &visit).await),
        Err(error) => return Err(error.into()),
    };
    typed.errors = errors;
    match response::read(&state.ledger, &site.respondent, site.view_id, site.request_id).await {
        Ok(form) => {
            let mut response = lead_page(&state, site, form, status, typed, &query).await;
            if status == StatusCode::TOO_MANY_REQUESTS {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(WAIT_SECONDS));
            }
            Ok(response)
        }
        Err(_) => Ok(gone(&state, &visit).await),
    }
}
