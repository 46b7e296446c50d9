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
use ledger::{
    Timestamp,
    memory_writer::{self, FlushWait, StalledRecord, WriterRecord, WriterTerms},
    page::memory as page,
};

pub fn router() -> Router<AppState> {
    Router::new().route("/agents/{slug}/memory/runs", get(show).post(ask))
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
) -> Result<Response, PageRejection> {
    let page = page::runs(&state.ledger, &viewer.scope, &agent).await?;
    let settings = state.memory_writer(workspace(&viewer), &agent);
    let terms = settings.map(|one| one.terms);
    let (stalled, now) = (page.stalled.as_ref(), state.ledger.now());
    let writer = page.writer.map(|writer| writer_state(writer, stalled, terms, now));
    let settings = settings.map(|one| WriterSettings {
        model: one.model.clone(),
        policy: one.terms.policy,
        turn_threshold: one.terms.turn_threshold,
        idle_seconds: one.terms.idle_seconds,
        runs_per_day: one.terms.runs_per_day,
        tokens_per_day: one.terms.tokens_per_day,
    });
    let runs = page.runs.into_iter().map(wire_map::memory_run).collect();
    let props = RunsProps { agent, settings, state: writer, runs };
    Ok(render(StatusCode::OK, move || ui::runs_page(&viewer.shell, props)).await)
}

/// Slug of the viewer's workspace.
fn workspace(viewer: &Viewer) -> &str {
    viewer.shell.viewer.as_ref().map(|me| me.tenant.slug.as_str()).unwrap_or_default()
}

/// What was spent on another day counts no more, and a time of a next try that has passed is none. `stalled` has what
/// the writer or some of its sessions wait for.
fn writer_state(
    writer: WriterRecord,
    stalled: Option<&StalledRecord>,
    terms: Option<WriterTerms>,
    now: Timestamp,
) -> WriterState {
    let spent = memory_writer::spent_today(writer.spent, now);
    let waits = memory_writer::waits(Some(&writer), terms.as_ref(), now);
    // What no one asked for does not wait for a server.
    let waits = waits.filter(|waits| writer.flush_at.is_some() || *waits != FlushWait::Writer);
    WriterState {
        parked_at: stalled.map_or(writer.parked_at, |stalled| stalled.parked_at),
        parked_sessions: stalled.map_or(0, |stalled| stalled.parked_sessions),
        retry_at: stalled.map_or(writer.retry_at, |stalled| stalled.retry_at).filter(|at| *at > now),
        flush_at: writer.flush_at,
        failures: stalled.map_or(writer.failures, |stalled| stalled.failures),
        waits: waits.map(|waits| waits.to_string()),
        waits_until: waits.and_then(|waits| waits.until()),
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
    let terms = state.memory_writer(workspace(&viewer), &agent).map(|one| one.terms);
    let flushed = memory_writer::flush(&state.ledger, &viewer.scope, &agent, terms).await?;
    // The page says what the run waits for.
    let notice = if flushed.waits.is_none() { "memory_run_asked" } else { "memory_run_waits" };
    Ok(redirect_with_notice(&format!("/agents/{agent}/memory/runs"), notice))
}
