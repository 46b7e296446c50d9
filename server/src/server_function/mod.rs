//! The server's part of the server functions of `app`: one route per function, and the forms that post to it.
//!
//! A call is authenticated here. Its use case runs in the implementation of the feature's backend trait, for example
//! `working_on`. The middleware holds for `/fn` as for the API: the cross-origin check, the limit of the body, the
//! deadline, problems and the log line.

mod action;
mod arguments;
mod chat;
mod export;
mod form_post;
mod inbox;
mod second_press;
mod session;
mod settings;
mod working_on;

use crate::{extract::identify, problem::Problem, state::AppState};
use app::server_function::Refusal;
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderValue,
        header::{CONTENT_TYPE, SET_COOKIE},
    },
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use ledger::{Scope, auth::Identity};
use leptos::{
    context::provide_context,
    reactive::{computed::ScopedFuture, owner::Owner},
    server_fn::axum::{get_server_fn_service, server_fn_paths},
};
use std::sync::{Arc, Mutex, PoisonError};
use wire::Code;

/// Largest error body of a server function that is read again, bytes.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// Media type of a form.
const FORM: &[u8] = b"application/x-www-form-urlencoded";

/// The routes of all server functions. `pages` renders the page of a form that was refused.
pub fn router(pages: Router) -> Router<AppState> {
    let mut router = Router::new();
    for (path, method) in server_fn_paths() {
        let Ok(filter) = MethodFilter::try_from(method) else { continue };
        let pages = pages.clone();
        let handler = move |State(state): State<AppState>, request: Request| answer(state, pages, request);
        router = router.route(path, on(filter, handler));
    }
    router
}

async fn answer(state: AppState, pages: Router, request: Request) -> Response {
    if form_post::is_form_post(request.headers()) {
        return form_post::answer(state, pages, request).await;
    }
    let identity = match identify(&state, request.headers()).await {
        Ok(Some(identity)) => identity,
        Ok(None) => return Problem::detailed(Code::Unauthenticated, "sign in first").into_response(),
        Err(problem) => return problem.into_response(),
    };
    match call(&state, identity, request).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

/// Runs the server function of this request as this caller.
///
/// # Errors
/// Why the function was refused, with what only the log may show.
async fn call(state: &AppState, identity: Identity, request: Request) -> Result<Response, Problem> {
    let (request, sent) = with_fields(request).await?;
    let Some(mut service) = get_server_fn_service(request.uri().path(), request.method().clone()) else {
        return Err(Problem::new(Code::NotFound));
    };
    let (refused, cookies) = (Mutex::default(), Mutex::default());
    let backend = Arc::new(Backend { state: state.clone(), identity, refused, cookies });
    let provided = backend.clone();
    let owner = Owner::new();
    let run = owner.with(|| {
        ScopedFuture::new(async move {
            provide_context::<Arc<dyn app::export::ExportBackend>>(provided.clone());
            provide_context::<Arc<dyn app::inbox::InboxBackend>>(provided.clone());
            provide_context::<Arc<dyn app::trigger::ActionBackend>>(provided.clone());
            provide_context::<Arc<dyn app::thread::ThreadBackend>>(provided.clone());
            provide_context::<Arc<dyn app::session::SessionBackend>>(provided.clone());
            provide_context::<Arc<dyn app::settings::SettingsBackend>>(provided.clone());
            provide_context::<Arc<dyn app::working_on::WorkingOnBackend>>(provided);
            service.run(request).await
        })
    });
    let mut response = run.await;
    owner.unset_with_forced_cleanup();
    if response.status().is_success() {
        for cookie in backend.cookies.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        return Ok(response);
    }
    let refused = backend.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
    Err(match refused {
        Some(problem) => problem,
        // The function was not reached: its arguments could not be read.
        None => unreadable_arguments(response, &sent).await,
    })
}

/// Returns the request, and the fields that it sends: its body, or the query if the body is no form.
async fn with_fields(request: Request) -> Result<(Request, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    // The middleware has read it: this copies nothing.
    let body = body.collect().await.map_err(|error| Problem::internal(error.to_string()))?.to_bytes();
    let is_form = parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(FORM));
    let query = || Bytes::copy_from_slice(parts.uri.query().unwrap_or_default().as_bytes());
    let sent = if is_form { body.clone() } else { query() };
    Ok((Request::from_parts(parts, Body::from(body)), sent))
}

async fn unreadable_arguments(response: Response, sent: &[u8]) -> Problem {
    let body = http_body_util::Limited::new(response.into_body(), REFUSAL_BYTES_MAX).collect().await;
    let refusal = body.ok().and_then(|body| serde_json::from_slice::<Refusal>(&body.to_bytes()).ok());
    match refusal {
        Some(Refusal { status: 422, detail, title, .. }) => arguments::unreadable(detail.unwrap_or(title), sent),
        refusal => Problem::internal(format!("server function: {refusal:?}")),
    }
}

/// What the server functions of one request work with.
struct Backend {
    state: AppState,
    identity: Identity,
    /// Why the function was refused. The function's own error is what the browser may know; this is what is logged.
    refused: Mutex<Option<Problem>>,
    /// `Set-Cookie` headers of the answer, if the function succeeds.
    cookies: Mutex<Vec<HeaderValue>>,
}

impl Backend {
    const fn scope(&self) -> &Scope {
        &self.identity.scope
    }

    fn set_cookie(&self, cookie: Option<HeaderValue>) {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner).extend(cookie);
    }

    /// Converts the result of a use case, and keeps the problem for the answer.
    fn answer<T>(&self, result: Result<T, impl Into<Problem>>) -> Result<T, Refusal> {
        result.map_err(|error| {
            let problem = error.into();
            let refusal = Refusal {
                code: problem.code().as_str().to_owned(),
                status: problem.status().as_u16(),
                ..Refusal::default()
            };
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
            refusal
        })
    }
}
