//! The form in a frame of another page: /embed/{secret}. Browsers keep no cookies there, so the page carries what a
//! cookie holds elsewhere. Each opening is another respondent. A form that asks who answers needs a cookie between its
//! two pages, so the frame has a link that opens it in a tab of its own.

use super::{
    flow::{not_applying, show, submit, too_often},
    posted_form::{PostedForm, query_pairs},
    site::Site,
    stranger::{gone, opened, secret_key, too_many_requests, wait},
    visit::Visit,
};
use crate::{
    nonce::Nonce,
    state::AppState,
    web::shell::{PageRejection, render},
};
use app::form_page::{Frame, TabProps, tab_page};
use axum::{
    Json, Router,
    extract::{Path, RawQuery, State},
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{id::ViewLinkId, view::Gate};
use ledger::{
    Error, ViewLinkRecord,
    response::{self, Respondent},
    view_link::{self, Entered, Entry, Visitor},
};

/// All origins: those that may show the page for a person over the limit of requests. It has nothing to press and tells
/// of no form.
const ANY_ORIGIN: &str = "*";

/// Name of the field with which the script asks which questions apply. Without it a posted form is a submission.
const ASKS: &str = "_asks";

pub fn router() -> Router<AppState> {
    Router::new().route("/embed/{secret}", get(show_form).post(submit_form))
}

async fn show_form(
    State(state): State<AppState>,
    visit: Visit,
    Path(secret): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageRejection> {
    if !visit.is_allowed(&state, Some(&secret_key(&secret))) {
        return Ok(framed(wait(&state, &visit).await, visit.nonce.as_ref(), &[ANY_ORIGIN.to_owned()]));
    }
    let Some(entered) = opened(view_link::enter(&state.ledger, &secret, None).await)? else {
        return Ok(gone(&state, &visit).await);
    };
    match entered.gate {
        Gate::None => show_entered(&state, &visit, entered, &secret, query.as_deref()).await,
        Gate::Lead | Gate::Member => Ok(link_to_tab(&state, &visit, entered, &secret, query.as_deref()).await),
    }
}

/// The form that everyone with the link may answer.
async fn show_entered(
    state: &AppState,
    visit: &Visit,
    entered: Entered,
    secret: &str,
    query: Option<&str>,
) -> Result<Response, PageRejection> {
    let Some((site, origins)) = site(state, visit, secret, Carried::entered(entered)).await? else {
        return Ok(gone(state, visit).await);
    };
    let page = show(state, site, &query_pairs(query)).await?;
    Ok(framed(page, visit.nonce.as_ref(), &origins))
}

/// The page in place of a form that asks who answers it. It says nothing of the form, which may be for members alone.
async fn link_to_tab(state: &AppState, visit: &Visit, entered: Entered, secret: &str, query: Option<&str>) -> Response {
    let Entered { gate, embed_origins, .. } = entered;
    if embed_origins.is_empty() {
        return gone(state, visit).await;
    }
    let mut frame = visit.frame(state);
    frame.embedded_in = Some(embed_origins.clone());
    let query = query.filter(|query| !query.is_empty()).map(|query| format!("?{query}")).unwrap_or_default();
    let props = TabProps { frame, href: format!("/f/{secret}{query}"), asks_sign_in: gate == Gate::Member };
    let page = render(StatusCode::OK, move || tab_page(&props)).await;
    framed(page, visit.nonce.as_ref(), &embed_origins)
}

async fn submit_form(
    State(state): State<AppState>,
    visit: Visit,
    Path(secret): Path<String>,
    posted: PostedForm,
) -> Result<Response, PageRejection> {
    let carried = Carried::posted(&posted);
    let link = carried.link.clone();
    let Some((site, origins)) = site(&state, &visit, &secret, carried).await? else {
        return Ok(gone(&state, &visit).await);
    };
    match (posted.own(ASKS).is_some(), visit.is_allowed(&state, Some(&link))) {
        (true, is_allowed) => answer_script(&state, &site, &posted, is_allowed).await,
        (false, true) => Ok(framed(submit(&state, site, &posted).await?, visit.nonce.as_ref(), &origins)),
        (false, false) => Ok(framed(too_often(&state, site, &posted).await?, visit.nonce.as_ref(), &origins)),
    }
}

/// What the script asks: which questions do not apply. A person over the limit of requests gets no answer.
async fn answer_script(
    state: &AppState,
    site: &Site,
    posted: &PostedForm,
    is_allowed: bool,
) -> Result<Response, PageRejection> {
    match is_allowed {
        true => Ok(Json(not_applying(state, site, posted).await?).into_response()),
        false => Err(too_many_requests().into()),
    }
}

/// What the page carries in place of cookies.
struct Carried {
    link: String,
    browser: String,
    clearance: String,
    key: Option<String>,
}

impl Carried {
    /// What the first page carries.
    fn entered(entered: Entered) -> Self {
        let Entered { link, browser, clearance, .. } = entered;
        Self { link: link.id.to_string(), browser, clearance, key: None }
    }

    /// What a posted page carried.
    fn posted(posted: &PostedForm) -> Self {
        let text = |name: &str| posted.own(name).unwrap_or_default().to_owned();
        Self { link: text("_link"), browser: text("_browser"), clearance: text("_clearance"), key: Some(text("_key")) }
    }

    fn entry(&self) -> Entry<'_> {
        Entry {
            browser: Some(&self.browser),
            clearance: Some(&self.clearance),
            lead: None,
            form_key: self.key.as_deref(),
            page_id: None,
        }
    }

    /// The fields of the page. `key` is that of its form.
    fn hidden(self, key: String) -> Vec<(String, String)> {
        let fields = [("_link", self.link), ("_browser", self.browser), ("_clearance", self.clearance), ("_key", key)];
        fields.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

/// The form and the origins that may embed it. `None` if nothing may, or if what the page carries opens nothing.
async fn site(
    state: &AppState,
    visit: &Visit,
    secret: &str,
    carried: Carried,
) -> Result<Option<(Site, Vec<String>)>, PageRejection> {
    let Ok(link_id) = carried.link.parse::<ViewLinkId>() else { return Ok(None) };
    let found = opened(view_link::respondent(&state.ledger, link_id, carried.entry()).await)?;
    let Some(Visitor { link, respondent, form_key }) = found else { return Ok(None) };
    let origins = embed_origins(state, &link, &respondent).await?;
    if origins.is_empty() {
        return Ok(None);
    }
    let frame = Frame { embedded_in: Some(origins.clone()), ..visit.frame(state) };
    let site = Site::of_link(&link, respondent, format!("/embed/{secret}"), frame);
    Ok(Some((Site { hidden: carried.hidden(form_key), has_cookies: false, ..site }, origins)))
}

/// The origins whose pages may show the form. None may show one that is not published.
async fn embed_origins(
    state: &AppState,
    link: &ViewLinkRecord,
    respondent: &Respondent,
) -> Result<Vec<String>, PageRejection> {
    match response::read(&state.ledger, respondent, link.view_id, link.request_id).await {
        Ok(form) => Ok(form.version.publication.embed_origins),
        Err(Error::NotFound(_) | Error::FormClosed(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Lets pages of these origins, and no others, show the page in a frame.
fn framed(mut response: Response, nonce: Option<&Nonce>, origins: &[String]) -> Response {
    let headers = response.headers_mut();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{}'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors {}",
        nonce.map(Nonce::as_str).unwrap_or_default(),
        origins.join(" ")
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    // A page that isolates itself may embed only what says so.
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
