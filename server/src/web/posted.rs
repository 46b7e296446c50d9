//! Keeps a form that is posted after the sign-in has expired. The sign-in page contains it, and it can be sent after
//! signing in. A field that was sent several times is one field with its values as lines, as [`Form`] reads both.
//!
//! Nothing is stored: the page carries it, and only a browser on a page of this server can have sent it.

use super::{
    form::Form,
    shell::{PageRejection, anonymous_shell, local_path, render},
};
use crate::state::AppState;
use app::{
    inbox::Decide,
    sign_in::{self, KeptForm, Props},
    thread::{SendMessage, StartConversation},
};
use axum::{
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use domain::{slug::is_slug, tool::is_tool_slug};
use leptos::server_fn::ServerFn as _;

/// Longest form that is kept, bytes of its names and values: a message of the greatest length in any script. A longer
/// one is still in the browser's history.
pub const KEPT_BYTES_MAX: usize = 128 * 1024;
/// The server functions whose forms are kept: those with a text that is long to type again.
const KEPT: [&str; 3] = [SendMessage::PATH, StartConversation::PATH, Decide::PATH];

/// Whether forms that are sent to this path are kept: those of these functions, of documents of an agent's memory, and
/// of definitions of tools. The form that runs a tool is not: which of its fields are private is not known of someone
/// who is not signed in.
pub fn is_kept(path: &str) -> bool {
    let agent = path.strip_prefix("/agents/").and_then(|rest| rest.strip_suffix("/memory"));
    let tool = path.strip_prefix("/tools/").and_then(|rest| rest.strip_suffix("/edit"));
    KEPT.contains(&path) || path == "/tools" || agent.is_some_and(is_slug) || tool.is_some_and(is_tool_slug)
}

/// Answers a form of someone who is not shown its page: with the sign-in page that keeps the form, if their sign-in has
/// expired and the form is one that is kept.
///
/// # Errors
/// The rejection, if it has another reason.
pub async fn keep_or_reject(
    state: &AppState,
    rejection: PageRejection,
    (parts, form): (&Parts, &Form),
    page: &str,
) -> Result<Response, PageRejection> {
    match rejection {
        PageRejection::Redirect(to_sign_in) => {
            let kept = keep(state, parts, form, page).await;
            Ok(kept.unwrap_or_else(|| to_sign_in.into_response()))
        }
        rejection => Err(rejection),
    }
}

/// The sign-in page with the form of this request, if it is one that is kept. `page` is the page of the form.
pub async fn keep(state: &AppState, parts: &Parts, form: &Form, page: &str) -> Option<Response> {
    let kept = form_to_keep(parts.uri.path().to_owned(), form.typed())?;
    let shell = anonymous_shell(state, &parts.headers, parts.extensions.get(), None);
    let props = Props { next: Some(page.to_owned()), kept: Some(kept), ..Props::default() };
    Some(render(StatusCode::UNAUTHORIZED, move || sign_in::page(&shell, &props)).await)
}

/// Reads the kept form from the fields of the sign-in form.
pub fn kept_form(form: &Form) -> Option<KeptForm> {
    // A browser sends line ends as CR LF, which would make a form of the greatest length too long.
    let fields = form.below(KeptForm::FIELD_PREFIX).map(|(name, value)| (name.to_owned(), value.replace("\r\n", "\n")));
    form_to_keep(local_path(form.optional(KeptForm::ACTION_FIELD).as_deref()).to_owned(), fields.collect())
}

fn form_to_keep(action: String, fields: Vec<(String, String)>) -> Option<KeptForm> {
    let bytes: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    let keeps = is_kept(&action) && !fields.is_empty() && bytes <= KEPT_BYTES_MAX;
    keeps.then_some(KeptForm { action, fields })
}
