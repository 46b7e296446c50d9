//! /sessions/saved: the saved searches, the form that saves one, and those that rename and delete them.

use super::{
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    sessions::{SavedProps, saved_page},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use domain::id::SavedSearchId;
use ledger::{Error, page::sessions as page, search as use_case};
use serde::Deserialize;

const PAGE: &str = "/sessions/saved";

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/sessions/saved", get(show).post(save))
        .route("/sessions/saved/{id}/rename", post(rename))
        .route("/sessions/saved/{id}/delete", post(delete))
}

#[derive(Default, Deserialize)]
struct Query {
    /// The line that the form begins with.
    q: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<Query>,
) -> Result<Response, PageRejection> {
    let line = query.q.unwrap_or_default();
    let form = FormState { values: [("q".to_owned(), line)].into(), ..FormState::default() };
    let props = props(&state, &viewer, form).await?;
    Ok(render(StatusCode::OK, move || saved_page(&viewer.shell, props)).await)
}

async fn props(state: &AppState, viewer: &Viewer, form: FormState) -> Result<SavedProps, PageRejection> {
    let page = page::saved(&state.ledger, &viewer.scope).await?;
    let own = viewer.scope.caller.to_string();
    let saved = page.saved.into_iter().map(wire_map::saved_search).collect();
    Ok(SavedProps { saved, own, people: people_of(page.people), form })
}

async fn save(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let saved = use_case::save(&state.ledger, &viewer.scope, typed(&form)).await;
    let Err(error) = saved else { return Ok(redirect_with_notice(PAGE, "search_saved").into_response()) };
    let problem = Problem::from(error);
    let props = props(&state, &viewer, form.refused("", &problem)).await?;
    Ok(render_or_refuse(Some(&problem), move || saved_page(&viewer.shell, props)).await)
}

async fn rename(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SavedSearchId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let name = form.text("name").trim().to_owned();
    let problem = match use_case::rename_saved(&state.ledger, &viewer.scope, id, name).await {
        Ok(_) => return Ok(redirect_with_notice(PAGE, "search_renamed").into_response()),
        Err(error @ (Error::Invalid(_) | Error::NameTaken(_))) => Problem::from(error),
        Err(error) => return Err(error.into()),
    };
    let props = props(&state, &viewer, form.refused(&id.to_string(), &problem)).await?;
    Ok(render_or_refuse(Some(&problem), move || saved_page(&viewer.shell, props)).await)
}

/// The search that the form has.
fn typed(form: &Form) -> use_case::NewSavedSearch {
    use_case::NewSavedSearch {
        name: form.text("name").trim().to_owned(),
        line: form.text("q"),
        shared: form.has("shared"),
    }
}

async fn delete(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SavedSearchId>,
) -> Result<Redirect, PageRejection> {
    use_case::delete_saved(&state.ledger, &viewer.scope, id).await?;
    Ok(redirect_with_notice(PAGE, "search_deleted"))
}
