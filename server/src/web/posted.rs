//! Keeps a form that is posted after the sign-in has expired. The sign-in page contains it, and it
//! can be sent after signing in.
//!
//! The server stores nothing: the form is part of the sign-in page. The cross-origin check has made sure that a page of
//! this server sent it.

use super::{
    form::Form,
    fragment::wants_fragment,
    shell::{PageRejection, Viewer, anonymous_shell, local_path, render, return_path},
};
use crate::{problem::Problem, state::AppState};
use app::sign_in::{self, KeptForm, Props};
use axum::{
    extract::{FromRequest, FromRequestParts as _, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use wire::Code;

/// Longest form that is kept, in bytes of names and values: enough for a message of the greatest length in any script.
/// The browser's history still has a longer one.
pub const KEPT_BYTES_MAX: usize = 128 * 1024;
/// Paths whose forms are kept.
const KEPT_BELOW: &str = "/chat";

/// A signed-in person and the form that they sent. For a person who is signed out, the rejection is a sign-in page that
/// keeps the form.
pub struct Posted {
    /// The person who sent the form.
    pub viewer: Viewer,
    /// The fields of the form.
    pub form: Form,
}

impl FromRequest<AppState> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let viewer = Viewer::from_request_parts(&mut parts, state).await;
        let action = parts.uri.path().to_owned();
        let shell = anonymous_shell(state, &parts.headers, parts.extensions.get(), None);
        let next = return_path(&parts);
        let is_script = wants_fragment(&parts.headers);
        let form = Form::from_request(Request::from_parts(parts, body), state).await;
        let redirect = match viewer {
            Ok(viewer) => return form.map(|form| Self { viewer, form }).map_err(Problem::into_response),
            Err(PageRejection::Redirect(redirect)) => redirect,
            Err(rejection) => return Err(rejection.into_response()),
        };
        if is_script {
            // The script's page still has the typed text.
            return Err(Problem::new(Code::Unauthenticated).into_response());
        }
        let kept = form.ok().and_then(|form| kept(action, form.typed()));
        let Some(kept) = kept else { return Err(redirect.into_response()) };
        let props = Props { next, kept: Some(kept), ..Props::default() };
        Err(render(StatusCode::UNAUTHORIZED, move || sign_in::page(&shell, &props)).await)
    }
}

/// Reads the kept form from the fields of the sign-in form.
pub fn kept_form(form: &Form) -> Option<KeptForm> {
    let fields = form.below(KeptForm::FIELD_PREFIX).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    kept(local_path(form.optional(KeptForm::ACTION_FIELD).as_deref()).to_owned(), fields)
}

fn kept(action: String, fields: Vec<(String, String)>) -> Option<KeptForm> {
    let bytes: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    let is_ours = action == KEPT_BELOW || action.strip_prefix(KEPT_BELOW).is_some_and(|rest| rest.starts_with('/'));
    (is_ours && !fields.is_empty() && bytes <= KEPT_BYTES_MAX).then_some(KeptForm { action, fields })
}
