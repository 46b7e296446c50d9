//! Refuses changes that a page asks for whose sign-in has changed: to another person, or to another workspace. All tabs
//! share the cookie, so the change would be made by a person, or in a workspace, that the page does not show.
//!
//! Requests of scripts name the owner of their page, and so do forms if scripts run. Requests without an owner are not
//! checked.

use crate::{extract::identify, problem::Problem, state::AppState};
use app::{OWNER_HEADER, working_on::owner_of};
use axum::http::{HeaderMap, Method, Uri, header};
use ledger::auth::Identity;
use wire::Code;

/// Paths that change who is signed in, and in which workspace. They are not refused.
const SIGN_IN_PATHS: [&str; 4] = ["/setup", "/sign-in", "/sign-out", "/workspace"];

/// Refuses a request with an unsafe method if its page has another owner than the cookie's sign-in. The handler answers
/// those who are signed out.
///
/// # Errors
/// [`Code::OtherSignIn`], or why the sign-in cannot be read.
pub async fn check(state: &AppState, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    if method.is_safe() || headers.contains_key(header::AUTHORIZATION) || SIGN_IN_PATHS.contains(&uri.path()) {
        return Ok(());
    }
    let Some(owner) = owner_of_page(uri, headers) else { return Ok(()) };
    let Some(Identity { tenant, user: Some(person), .. }) = identify(state, headers).await? else { return Ok(()) };
    if owner == owner_of(&tenant.id.to_string(), &person.id.to_string()) {
        return Ok(());
    }
    let detail = format!(
        "This browser is signed in as {} in the workspace {} now, and the page was opened before that. Nothing was \
         changed. Reload the page to go on.",
        person.email, tenant.name
    );
    Err(Problem::detailed(Code::OtherSignIn, detail))
}

/// The owner that the page names: in a header, or in the query of a form's address.
fn owner_of_page(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let of_script = headers.get(OWNER_HEADER).and_then(|owner| owner.to_str().ok()).map(str::to_owned);
    let of_form = || {
        let mut fields = form_urlencoded::parse(uri.query()?.as_bytes());
        fields.find(|(name, _)| name == OWNER_HEADER).map(|(_, owner)| owner.into_owned())
    };
    of_script.or_else(of_form).filter(|owner| !owner.is_empty())
}
