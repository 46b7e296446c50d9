//! The viewer's own account in the settings: name, password, sign-ins.

use super::{
    form::Form,
    settings::saved,
    shell::{PageRejection, Viewer, redirect_with_notice},
};
use crate::{extract::Id, state::AppState};
use axum::{
    Router,
    extract::State,
    response::{Redirect, Response},
    routing::post,
};
use domain::id::BrowserSessionId;
use ledger::auth;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/settings/name", post(set_name))
        .route("/settings/password", post(set_password))
        .route("/settings/sign-ins/end-others", post(end_others))
        .route("/settings/sign-ins/{id}/end", post(end))
}

async fn set_name(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let set = auth::set_name(&state.ledger, &viewer.scope, &form.text("name")).await;
    saved(&state, viewer, &form, ("name", "name_saved"), set).await
}

async fn set_password(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let (current, new) = (form.text("current_password"), form.text("password"));
    let set = auth::set_password(&state.ledger, &viewer.scope, &viewer.secret, &current, &new).await;
    saved(&state, viewer, &form, ("password", "password_changed"), set).await
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
