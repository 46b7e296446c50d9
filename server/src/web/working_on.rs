//! /working-on: the picker without scripts, and the person's own day. Its forms post to server functions.

use super::shell::{PageRejection, Viewer, render};
use crate::{extract::Params, state::AppState, wire_map};
use app::day::{self as ui, Day, Props};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Html, Response},
    routing::get,
};
use ledger::{human, page::working_on as page};
use serde::Deserialize;

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
    Params(query): Params<PageQuery>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, query).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, viewer: &Viewer, query: PageQuery) -> Result<Props, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, query.q.clone(), "UTC").await?;
    Ok(Props {
        has_more: page.tasks.next_cursor.is_some(),
        tasks: page.tasks.items.into_iter().map(wire_map::action).collect(),
        q: query.q.unwrap_or_default(),
        // Only the viewer's browser knows their zone; it reads the day again by [`day_rows`].
        day: day_of(viewer, page.day, true),
        form: viewer.form.clone(),
    })
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
    Params(query): Params<DayQuery>,
) -> Result<Html<String>, PageRejection> {
    let today = human::today(&state.ledger, &viewer.scope, &query.timezone).await?;
    Ok(Html(ui::day_fragment(&day_of(&viewer, today, query.detail == "whole"))))
}
