//! /agents/{slug}/memory/runs: the runs of an agent's memory writer, and the button that asks for one.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, redirect_with_notice, render},
};
use crate::{extract::AgentSlug, state::AppState, wire_map};
use app::memory::{self as ui, RunsProps, WriterSettings, WriterState};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Redirect, Response},
    routing::get,
};
use ledger::{Error, Timestamp, memory_write};

pub fn router() -> Router<AppState> {
    Router::new().route("/agents/{slug}/memory/runs", get(show).post(ask))
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
) -> Result<Response, PageRejection> {
    let runs = memory_write::runs(&state.ledger, &viewer.scope, &agent).await?;
    let writer = match memory_write::status(&state.ledger, &viewer.scope, &agent).await {
        Ok(writer) => Some(writer_state(writer, state.ledger.now())),
        Err(Error::NotFound(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let workspace = viewer.shell.viewer.as_ref().map(|me| me.tenant.slug.as_str()).unwrap_or_default();
    let settings = state.memory_writers.iter().find(|one| one.agent == agent && one.workspace == workspace);
    let settings = settings.map(|one| WriterSettings {
        model: one.model.clone(),
        policy: one.terms.policy,
        turn_threshold: one.terms.turn_threshold,
        idle_seconds: one.terms.idle_seconds,
        runs_per_day: one.terms.runs_per_day,
        tokens_per_day: one.terms.tokens_per_day,
    });
    let runs = runs.into_iter().map(wire_map::memory_run).collect();
    let props = RunsProps { agent, settings, state: writer, runs };
    Ok(render(StatusCode::OK, move || ui::runs_page(&viewer.shell, props)).await)
}

/// What was spent on another day counts no more, and a time of a next try that has passed is none.
fn writer_state(writer: memory_write::WriterRecord, now: Timestamp) -> WriterState {
    let spent = memory_write::spent_today(writer.spent, now);
    WriterState {
        parked_at: writer.parked_at,
        retry_at: writer.retry_at.filter(|at| *at > now),
        flush_at: writer.flush_at,
        failures: writer.failures,
        runs_today: spent.runs,
        tokens_today: spent.tokens,
    }
}

async fn ask(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    _: Form,
) -> Result<Redirect, PageRejection> {
    let has_writer = memory_write::flush(&state.ledger, &viewer.scope, &agent).await?;
    let notice = if has_writer { "memory_run_asked" } else { "memory_run_waits" };
    Ok(redirect_with_notice(&format!("/agents/{agent}/memory/runs"), notice))
}
