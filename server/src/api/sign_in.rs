//! The caller's own sign-ins.

use crate::{
    extract::{Caller, Id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::id::BrowserSessionId;
use ledger::auth;
use wire::access::SignIns;

/// List the browsers that are signed in as the caller
///
/// For people: a token has no sign-ins.
#[utoipa::path(
    get, path = "/api/sign-ins", operation_id = "listSignIns", tag = "access",
    responses(
        (status = 200, description = "All that work, last used first", body = SignIns),
    ),
)]
pub async fn list(State(state): State<AppState>, caller: Caller, headers: HeaderMap) -> Result<Json<SignIns>, Problem> {
    let secret = state.cookies.session(&headers).unwrap_or_default();
    let listed = auth::list_sign_ins(&state.ledger, caller.scope(), secret).await?;
    Ok(Json(SignIns { sign_ins: listed.into_iter().map(wire_map::sign_in).collect() }))
}

/// End one of the caller's sign-ins
#[utoipa::path(
    delete, path = "/api/sign-ins/{id}", operation_id = "endSignIn", tag = "access",
    params(("id" = uuid::Uuid, Path, description = "The sign-in")),
    responses(
        (status = 204, description = "Ended"),
    ),
)]
pub async fn end(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<BrowserSessionId>,
) -> Result<StatusCode, Problem> {
    auth::end_sign_in(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
