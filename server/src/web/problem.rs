//! A problem as a page, for people.

use super::shell::blank;
use crate::{shield::Nonce, state::AppState};
use app::error_page::{Failure, page};
use axum::http::HeaderMap;

/// The page of a problem. It shows no name and no rail: whoever may not see a thing learns nothing about it.
pub fn problem_page(state: &AppState, headers: &HeaderMap, nonce: Option<&Nonce>, problem: &wire::Problem) -> String {
    let shell = blank(state, headers, nonce, None);
    let detail = problem.detail.clone().filter(|_| problem.status < 500);
    let has_sign_in = state.cookies.session(headers).is_some();
    page(&shell, &Failure { status: problem.status, detail, request_id: problem.request_id.clone(), has_sign_in })
}
