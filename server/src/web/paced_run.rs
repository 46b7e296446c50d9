//! /sessions/paced: sessions that are run again at a pace. The form of a pace is on the pages that run sessions again.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, render},
};
use crate::{
    extract::{Id, Params},
    state::AppState,
    wire_map,
};
use app::paced_run::{self as ui, ListProps, PATH, PaceChoice};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{
    Timestamp,
    id::{PacedRunId, SessionId},
};
use ledger::{
    Error, ListPage,
    paced_run::{self as use_case, NewPacedRun},
    work_queue::SnoozeChoice,
};
use serde::Deserialize;

/// Number of rows on a page.
const ROWS: u32 = 50;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/sessions/paced", get(list))
        .route("/sessions/paced/{id}", get(show))
        .route("/sessions/paced/{id}/progress", get(progress))
        .route("/sessions/paced/{id}/cancel", post(cancel))
}

#[derive(Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let page = ListPage { limit: ROWS, cursor: query.cursor };
    let listed = use_case::list(&state.ledger, &viewer.scope, page).await?;
    let runs = wire_map::page(listed, wire_map::paced_run);
    let props = ListProps { runs: runs.items, next_cursor: runs.next_cursor };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<PacedRunId>,
) -> Result<Response, PageRejection> {
    let detail = wire_map::paced_run_detail(use_case::get(&state.ledger, &viewer.scope, id).await?);
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, &detail)).await)
}

/// What the page reads again while the run is open.
async fn progress(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<PacedRunId>,
) -> Result<Html<String>, PageRejection> {
    let found = use_case::get(&state.ledger, &viewer.scope, id).await?;
    Ok(Html(ui::progress_fragment(&wire_map::paced_run(found.run))))
}

async fn cancel(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<PacedRunId>,
) -> Result<Response, PageRejection> {
    use_case::cancel(&state.ledger, &viewer.scope, id).await?;
    Ok(Redirect::to(&format!("{PATH}/{id}")).into_response())
}

/// What the form of a pace offers at this time.
pub fn pace_choice(viewer: &Viewer, now: Timestamp) -> PaceChoice {
    let starts = [
        (SnoozeChoice::Later, "In 3 hours"),
        (SnoozeChoice::Tomorrow, "Tomorrow, 9:00"),
        (SnoozeChoice::Monday, "Monday, 9:00"),
    ];
    let start = |(choice, label): (SnoozeChoice, &str)| {
        let at = choice.until(&viewer.timezone, now).ok()?;
        Some((at.to_rfc3339(), label.to_owned()))
    };
    PaceChoice {
        starts: starts.into_iter().filter_map(start).collect(),
        key: format!("{}-pace", viewer.shell.form_key),
    }
}

/// Makes a paced run of these sessions if the form chooses a pace. Returns the address of its page.
pub async fn run_at_pace(
    state: &AppState,
    viewer: &Viewer,
    form: &Form,
    sessions: Option<&[SessionId]>,
) -> Result<Option<String>, Error> {
    let Some(new) = sessions.map(|sessions| paced(form, sessions)).transpose()?.flatten() else { return Ok(None) };
    let made = use_case::create(&state.ledger, &viewer.scope, new).await?;
    Ok(Some(format!("{PATH}/{}", made.run.record.id)))
}

/// The paced run that the form asks for; `None` if it chooses no pace.
fn paced(form: &Form, sessions: &[SessionId]) -> Result<Option<NewPacedRun>, Error> {
    let (at_a_time, start_at) = (form.optional("atATime"), form.optional("startAt"));
    if at_a_time.is_none() && start_at.is_none() {
        return Ok(None);
    }
    let at_a_time = at_a_time.map(|number| number.parse::<u32>());
    let at_a_time = at_a_time.transpose().map_err(|_| Error::invalid("atATime", "a number"))?;
    let start_at = start_at.map(|at| at.parse::<Timestamp>());
    let start_at =
        start_at.transpose().map_err(|_| Error::invalid("startAt", "a time such as 2026-01-31T09:00:00Z"))?;
    let (sessions, idempotency_key) = (sessions.to_vec(), form.optional("idempotencyKey"));
    Ok(Some(NewPacedRun { sessions, at_a_time, start_at, idempotency_key }))
}
