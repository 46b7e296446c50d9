//! /working-on: the picker without scripts, and the person's own day. Its forms post to server functions.

use super::shell::{PageRejection, Viewer, render};
use crate::{state::AppState, wire_map};
use app::day::{self as ui, Day, Props};
use axum::{
    Router,
    extract::{Query, State},
    http::StatusCode,
    response::{Html, Response},
    routing::get,
};
use domain::action::ActionStatus;
use ledger::{
    action::{self, Assignee, ListActions},
    human,
};
use serde::Deserialize;

/// Tasks on the page.
const TASKS: u32 = 50;

pub fn router() -> Router<AppState> {
    Router::new().route("/working-on", get(show)).route("/working-on/day", get(day_rows))
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
    let props = read(&state, &viewer, query).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, viewer: &Viewer, query: PageQuery) -> Result<Props, PageRejection> {
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
        form: viewer.form.clone(),
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
