//! /sessions/{id}/forget: shows what of a session is in the training data, and deletes it.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, render, render_or_refuse},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    session::{self as ui, ForgetProps},
};
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::id::SessionId;
use ledger::{
    Error, Scope,
    interaction::{CapturedData, preview_forget_session},
    session,
};
use runner::forget::forget_session;

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions/{id}/forget", get(show).post(forget))
}

async fn show(State(state): State<AppState>, viewer: Viewer, Id(id): Id<SessionId>) -> Result<Response, PageRejection> {
    let props = preview(&state, &viewer.scope, id).await?;
    Ok(render(StatusCode::OK, move || ui::forget_page(&viewer.shell, props)).await)
}

async fn preview(state: &AppState, scope: &Scope, id: SessionId) -> Result<ForgetProps, Error> {
    let found = preview_forget_session(&state.ledger, scope, id).await?;
    let session = session::get(&state.ledger, scope, id).await?;
    Ok(props_of(session, found, None))
}

fn props_of(session: domain::session::Session, found: CapturedData, done: Option<bool>) -> ForgetProps {
    ForgetProps {
        session: wire_map::session(session),
        interactions: found.interactions,
        exports: found.exports.into_iter().map(|export| (export.id.map(|id| id.to_string()), export.words)).collect(),
        done,
        form: FormState::default(),
    }
}

async fn forget(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let (props, problem) = take(&state, &viewer.scope, id, &form).await?;
    Ok(render_or_refuse(problem.as_ref(), move || ui::forget_page(&viewer.shell, props)).await)
}

/// Deletes the data if the word that confirms it was typed. Otherwise returns why not.
async fn take(
    state: &AppState,
    scope: &Scope,
    id: SessionId,
    form: &Form,
) -> Result<(ForgetProps, Option<Problem>), Error> {
    if form.text("confirm").trim() == "forget" {
        let (found, rewritten) = forget_session(&state.ledger, &state.turn_capture, scope, id).await?;
        let session = session::get(&state.ledger, scope, id).await?;
        return Ok((props_of(session, found, Some(rewritten)), None));
    }
    let problem = Problem::from(Error::invalid("confirm", "type the word forget"));
    let props = ForgetProps { form: form.refused("forget", &problem), ..preview(state, scope, id).await? };
    Ok((props, Some(problem)))
}
