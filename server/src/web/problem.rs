//! A problem as a page, for people.

use super::shell::{anonymous_shell, signed_in_shell};
use crate::{extract::identify, nonce::Nonce, state::AppState};
use app::{
    Shell,
    error_page::{Failure, page},
};
use axum::http::HeaderMap;

/// The page of a problem. Who is signed in keeps the shell around it, with what is their own; others see no rail. What
/// is said is the same for everybody: whoever may not see a thing learns nothing about it.
pub async fn problem_page(
    state: &AppState,
    headers: &HeaderMap,
    nonce: Option<&Nonce>,
    problem: &wire::Problem,
) -> String {
    let shell = shell(state, headers, nonce, problem).await;
    let detail = problem.detail.clone().filter(|_| problem.status < 500);
    let has_sign_in = state.cookies.session(headers).is_some();
    page(&shell, &Failure { status: problem.status, detail, request_id: problem.request_id.clone(), has_sign_in })
}

/// Where something broke or the server is busy nobody is looked up: the page must not fail for the same reason.
async fn shell(state: &AppState, headers: &HeaderMap, nonce: Option<&Nonce>, problem: &wire::Problem) -> Shell {
    let shell = || anonymous_shell(state, headers, nonce, None);
    if problem.status >= 500 || problem.status == 429 {
        return shell();
    }
    match identify(state, headers).await {
        Ok(Some(identity)) => signed_in_shell(state, shell(), &identity, true).await.unwrap_or_else(|_| shell()),
        _ => shell(),
    }
}
