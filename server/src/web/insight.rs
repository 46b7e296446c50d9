//! /insights and /insights/memories

use super::{
    shell::{PageRejection, Viewer, render},
    stalled::stalled_of,
};
use crate::{extract::Params, state::AppState, wire_map};
use app::insight::{self as ui, MemoryFigure, MemoryProps, Props, RankerFigure, Task, WINDOWS};
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use ledger::{
    ActionRecord,
    memory_ranker::RankerRecord,
    page::{insight as page, memory_insight as memory},
};
use serde::Deserialize;

pub fn router() -> Router<AppState> {
    Router::new().route("/insights", get(show)).route("/insights/memories", get(memories))
}

#[derive(Default, Deserialize)]
struct Window {
    days: Option<String>,
}

/// An address with a window that is not offered shows the usual one.
async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<Window>,
) -> Result<Response, PageRejection> {
    let asked = query.days.and_then(|days| days.parse().ok()).filter(|days| WINDOWS.contains(days));
    let days = asked.unwrap_or(WINDOWS[0]);
    let page = page::read(&state.ledger, &viewer.scope, days).await?;
    let task = |action: ActionRecord| (action.slug, Task { id: action.id.to_string(), name: action.name });
    let tasks = page.actions.into_iter().map(task).collect();
    let insights = wire_map::insights(page.record, state.turn_capture.failures());
    let (tool_names, stalled) = (page.tool_names, stalled_of(page.stalled));
    let props = Props { days, insights, tasks, tool_names, stalled };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn memories(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let props = memory_props(memory::read(&state.ledger, &viewer.scope).await?);
    Ok(render(StatusCode::OK, move || ui::memory_page(&viewer.shell, props)).await)
}

fn memory_props(page: memory::Page) -> MemoryProps {
    let memory::Page { given, rated, used, helpful, unused, harmful, few, rankers } = page;
    let list = |figures: Vec<memory::MemoryFigure>| figures.into_iter().map(memory_figure).collect();
    MemoryProps {
        given,
        rated,
        used,
        helpful: list(helpful),
        unused: list(unused),
        harmful: list(harmful),
        few,
        rankers: rankers.into_iter().map(ranker_figure).collect(),
    }
}

fn memory_figure(figure: memory::MemoryFigure) -> MemoryFigure {
    let memory::MemoryFigure { agent, path, given, used, rated, mean } = figure;
    MemoryFigure { agent, path, given, used, rated, mean }
}

fn ranker_figure(record: RankerRecord) -> RankerFigure {
    let state = match (record.in_use, record.refusal.as_deref()) {
        (true, _) => "in use",
        (false, None) => "not in use",
        (false, Some("ratings_contradict_uses")) => "refused: ratings contradict uses",
        (false, Some(_)) => "refused: not better",
    };
    RankerFigure {
        version: record.version,
        at: record.created_at,
        formula: record.formula_ndcg5,
        model: record.model_ndcg5,
        gain: (record.gain_low, record.gain_high),
        state: state.to_owned(),
    }
}
