//! The viewer's own account in the settings: name, password, sign-ins.

use super::{
    form::Form,
    settings::refused,
    shell::{PageRejection, Viewer, redirect_with_notice},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use domain::id::BrowserSessionId;
use ledger::auth;
use wire::access::SignIn;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings/name", post(set_name))
        .route("/settings/password", post(set_password))
        .route("/settings/sign-ins/end-others", post(end_others))
        .route("/settings/sign-ins/{id}/end", post(end))
}

/// The viewer's sign-ins. Empty for programs.
pub async fn sign_ins(state: &AppState, viewer: &Viewer) -> Result<Vec<SignIn>, PageRejection> {
    if viewer.scope.user_id().is_none() {
        return Ok(Vec::new());
    }
    let listed = auth::list_sign_ins(&state.ledger, &viewer.scope, &viewer.secret).await?;
    Ok(listed.into_iter().map(wire_map::sign_in).collect())
}

async fn set_name(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match auth::set_name(&state.ledger, &viewer.scope, &form.text("name")).await {
        Ok(()) => Ok(redirect_with_notice("/settings", "name_saved").into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            refused(&state, viewer, form.refused("name", &problem), &problem).await
        }
    }
}

async fn set_password(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let (current, new) = (form.text("current_password"), form.text("password"));
    match auth::set_password(&state.ledger, &viewer.scope, &viewer.secret, &current, &new).await {
        Ok(()) => Ok(redirect_with_notice("/settings", "password_changed").into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            refused(&state, viewer, form.refused("password", &problem), &problem).await
        }
    }
}

async fn end(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<BrowserSessionId>,
) -> Result<Redirect, PageRejection> {
    auth::end_sign_in(&state.ledger, &viewer.scope, id).await?;
    Ok(redirect_with_notice("/settings", "sign_in_ended"))
}

async fn end_others(State(state): State<AppState>, viewer: Viewer) -> Result<Redirect, PageRejection> {
    auth::end_other_sign_ins(&state.ledger, &viewer.scope, &viewer.secret).await?;
    Ok(redirect_with_notice("/settings", "sign_ins_ended"))
}
