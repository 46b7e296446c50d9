//! Shows a problem as a page.

use super::shell::{anonymous_shell, local_path, referring_page, signed_in_shell, timezone};
use crate::{extract::identify, nonce::Nonce, state::AppState};
use app::{
    Shell,
    error_page::{Failure, page},
};
use axum::http::HeaderMap;
use wire::Code;

/// Renders the page of a problem. For a signed-in viewer it has the usual shell, for others no rail. The text is the
/// same for everyone, so that a person without access learns nothing about a record.
pub async fn problem_page(
    state: &AppState,
    headers: &HeaderMap,
    nonce: Option<&Nonce>,
    problem: &wire::Problem,
) -> String {
    let shell = shell(state, headers, nonce, problem).await;
    let detail = problem.detail.clone().filter(|_| problem.status < 500);
    let has_sign_in = state.cookies.session(headers).is_some();
    let again = (problem.code == Code::OtherSignIn).then(|| page_of_form(headers)).flatten();
    page(&shell, &Failure { code: problem.code, detail, request_id: problem.request_id.clone(), has_sign_in, again })
}

/// Path of the page from which a form was sent. `None` for a form that a server function refused before: it was shown
/// at the address of the function, which has no page.
fn page_of_form(headers: &HeaderMap) -> Option<String> {
    let page = referring_page(headers)?;
    let path = page.path_and_query()?.as_str();
    (!path.starts_with("/fn/")).then(|| local_path(Some(path)).to_owned())
}

/// After an internal failure, or while the server is busy, no viewer is read, because that could fail for the same
/// reason.
async fn shell(state: &AppState, headers: &HeaderMap, nonce: Option<&Nonce>, problem: &wire::Problem) -> Shell {
    let shell = || anonymous_shell(state, headers, nonce, None);
    if problem.status >= 500 || problem.status == 429 {
        return shell();
    }
    let framed = Some(timezone(headers));
    match identify(state, headers).await {
        Ok(Some(identity)) => signed_in_shell(state, shell(), &identity, framed).await.unwrap_or_else(|_| shell()),
        _ => shell(),
    }
}
