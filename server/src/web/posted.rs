//! Keeps a form that is posted after the sign-in has expired. The sign-in page contains it, and it can be sent after
//! signing in.
//!
//! Nothing is stored: the page carries it, and only a browser on a page of this server can have sent it.

use super::{
    form::Form,
    shell::{anonymous_shell, local_path, render},
};
use crate::state::AppState;
use app::{
    sign_in::{self, KeptForm, Props},
    thread::{SendMessage, StartConversation},
};
use axum::{
    http::{StatusCode, request::Parts},
    response::Response,
};
use leptos::server_fn::ServerFn as _;

/// Longest form that is kept, bytes of its names and values: a message of the greatest length in any script. A longer
/// one is
/// still in the browser's history.
const KEPT_BYTES_MAX: usize = 128 * 1024;
/// The server functions whose forms are kept: those with a text that is long to type again.
const KEPT: [&str; 2] = [SendMessage::PATH, StartConversation::PATH];

/// The sign-in page with the form of this request, if it is one that is kept. `page` is the page of the form.
pub async fn keep(state: &AppState, parts: &Parts, form: &Form, page: &str) -> Option<Response> {
    let kept = kept(parts.uri.path().to_owned(), form.typed())?;
    let shell = anonymous_shell(state, &parts.headers, parts.extensions.get(), None);
    let props = Props { next: Some(page.to_owned()), kept: Some(kept), ..Props::default() };
    Some(render(StatusCode::UNAUTHORIZED, move || sign_in::page(&shell, &props)).await)
}

/// Reads the kept form from the fields of the sign-in form.
pub fn kept_form(form: &Form) -> Option<KeptForm> {
    let fields = form.below(KeptForm::FIELD_PREFIX).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    kept(local_path(form.optional(KeptForm::ACTION_FIELD).as_deref()).to_owned(), fields)
}

fn kept(action: String, fields: Vec<(String, String)>) -> Option<KeptForm> {
    let bytes: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    let is_kept = KEPT.contains(&action.as_str()) && !fields.is_empty() && bytes <= KEPT_BYTES_MAX;
    is_kept.then_some(KeptForm { action, fields })
}
