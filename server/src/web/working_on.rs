//! /working-on: the picker without scripts, and the person's own day.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, redirect_with_notice, refuse, render},
};
use crate::{problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    working_on::{self as ui, Active, Day, Props},
};
use axum::{
    Router,
    extract::{Query, State},
    http::StatusCode,
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};
use domain::action::ActionStatus;
use ledger::{
    action::{self, Assignee, ListActions, NewAction},
    human,
};
use serde::Deserialize;

/// Tasks on the page.
const TASKS: u32 = 50;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/working-on", get(show))
        .route("/working-on/day", get(day_rows))
        .route("/working-on/start", post(start))
        .route("/working-on/stop", post(stop))
        .route("/working-on/create", post(create))
}

#[derive(Default, Deserialize)]
struct PageQuery {
    q: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<PageQuery>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, query, FormState::default()).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, viewer: &Viewer, query: PageQuery, form: FormState) -> Result<Props, PageRejection> {
    let wanted = ListActions {
        status: Some(ActionStatus::Active),
        assigned_to: Some(Assignee::Me),
        name_contains: query.q.clone(),
        limit: TASKS,
        ..ListActions::default()
    };
    let listed = action::list(&state.ledger, &viewer.scope, wanted).await?;
    Ok(Props {
        has_more: listed.next_cursor.is_some(),
        tasks: listed.items.into_iter().map(wire_map::action).collect(),
        q: query.q.unwrap_or_default(),
        day: day(state, viewer, "UTC", true).await?,
        form,
    })
}

/// The viewer's day. Only their browser knows their zone; it reads the day again by [`day_rows`].
async fn day(state: &AppState, viewer: &Viewer, timezone: &str, whole: bool) -> Result<Day, PageRejection> {
    let today = human::today(&state.ledger, &viewer.scope, timezone).await?;
    Ok(day_of(viewer, today, whole))
}

/// A day as pages show it.
pub fn day_of(viewer: &Viewer, today: human::Today, whole: bool) -> Day {
    Day { today: wire_map::human_today(today), whole, now: viewer.shell.now }
}

#[derive(Deserialize)]
struct DayQuery {
    timezone: String,
    detail: String,
}

async fn day_rows(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<DayQuery>,
) -> Result<Html<String>, PageRejection> {
    Ok(Html(ui::day_fragment(&day(&state, &viewer, &query.timezone, query.detail == "whole").await?)))
}

/// What the viewer works on, for the rail of every page.
pub fn active(active: human::Active) -> Active {
    let started_at = active.session.started_at.unwrap_or(active.session.created_at);
    Active {
        session_id: active.session.id.to_string(),
        task_id: active.task.id.to_string(),
        title: active.task.name,
        started_at: started_at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        started_words: format!("since {} UTC", started_at.format("%H:%M")),
    }
}

async fn start(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let begun = match wire_map::start_human(&wire::human::StartHuman { task_id: form.text("taskId") }) {
        Ok(task_id) => human::start(&state.ledger, &viewer.scope, task_id).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match begun {
        Ok(_) => Ok(redirect_with_notice("/working-on", "working_started").into_response()),
        Err(problem) => refused(&state, viewer, form.refused("start", &problem), &problem).await,
    }
}

async fn stop(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let ended = match wire_map::stop_human(&wire::human::StopHuman { session_id: form.text("sessionId") }) {
        Ok(session_id) => human::stop(&state.ledger, &viewer.scope, session_id).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match ended {
        Ok(_) => Ok(redirect_with_notice("/working-on", "working_stopped").into_response()),
        Err(problem) => refused(&state, viewer, form.refused("stop", &problem), &problem).await,
    }
}

/// A task of the viewer's own, and work on it at once.
async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let new = NewAction {
        name: form.text("name").trim().to_owned(),
        assigned_to: viewer.scope.user_id(),
        ..NewAction::default()
    };
    let begun = match action::create(&state.ledger, &viewer.scope, new).await {
        Ok(task) => human::start(&state.ledger, &viewer.scope, task.id).await,
        Err(error) => Err(error),
    };
    match begun.map_err(Problem::from) {
        Ok(_) => Ok(redirect_with_notice("/working-on", "working_started").into_response()),
        Err(problem) => refused(&state, viewer, form.refused("create", &problem), &problem).await,
    }
}

async fn refused(
    state: &AppState,
    viewer: Viewer,
    form: FormState,
    problem: &Problem,
) -> Result<Response, PageRejection> {
    let props = read(state, &viewer, PageQuery::default(), form).await?;
    Ok(refuse(problem, move || ui::page(&viewer.shell, props)).await)
}
