//! /agents/{slug}/memory/runs: the runs of an agent's memory writer, and the form that asks for one.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, refuse, render},
};
use crate::{
    extract::{AgentSlug, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    memory::{self as ui, RunsProps, WriterSettings, WriterState},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use chrono::{Days, NaiveDate, NaiveTime};
use domain::role::Permission;
use ledger::{
    Error, Timestamp,
    memory_writer::{self, FlushWait, StalledRecord, WriterRecord, WriterTerms},
    page::memory as page,
};
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/agents/{slug}/memory/runs", get(show).post(ask))
}

/// The query. What cannot be read is ignored.
#[derive(Default, Deserialize)]
struct ShowQuery {
    added: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let mut props = read(&state, &viewer, agent).await?;
    props.added_sessions = query.added.and_then(|added| added.parse().ok());
    Ok(render(StatusCode::OK, move || ui::runs_page(&viewer.shell, props)).await)
}

/// Reads what the page shows, without a request that was made.
async fn read(state: &AppState, viewer: &Viewer, agent: String) -> Result<RunsProps, PageRejection> {
    let page = page::runs(&state.ledger, &viewer.scope, &agent).await?;
    let settings = state.memory_writer(workspace(viewer), &agent);
    let (stalled, now) = (page.stalled.as_ref(), state.ledger.now());
    let writer = page.writer.map(|writer| writer_state(writer, stalled, settings.map(|one| one.terms), now));
    let settings = settings.map(writer_settings);
    let runs = page.runs.into_iter().map(wire_map::memory_run).collect();
    Ok(RunsProps { agent, settings, state: writer, runs, added_sessions: None, form: FormState::default() })
}

/// Slug of the viewer's workspace.
fn workspace(viewer: &Viewer) -> &str {
    viewer.shell.viewer.as_ref().map(|me| me.tenant.slug.as_str()).unwrap_or_default()
}

fn writer_settings(writer: &crate::writer_settings::WriterSettings) -> WriterSettings {
    WriterSettings {
        model: writer.model.clone(),
        policy: writer.terms.policy,
        turn_threshold: writer.terms.turn_threshold,
        idle_seconds: writer.terms.idle_seconds,
        runs_per_day: writer.terms.runs_per_day,
        tokens_per_day: writer.terms.tokens_per_day,
    }
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

/// The beginning of the day from which older sessions are read too, if the form names one.
///
/// # Errors
/// [`Error::Invalid`] for a text that is no day, and for a day in the future.
fn since(form: &Form, now: Timestamp) -> Result<Option<Timestamp>, Error> {
    let Some(text) = form.optional("since") else { return Ok(None) };
    let day = text.parse::<NaiveDate>();
    let day = day.map_err(|_| Error::invalid("since", "enter a day that exists, such as 2026-01-31"))?;
    // Where the sender lives it may be tomorrow already.
    if day > now.date_naive() + Days::new(1) {
        return Err(Error::invalid("since", "this day is in the future; enter today or an earlier day"));
    }
    Ok(Some(day.and_time(NaiveTime::MIN).and_utc()))
}

async fn ask(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    form: Form,
) -> Result<Response, PageRejection> {
    let since = match since(&form, state.ledger.now()) {
        Ok(since) => since,
        Err(error) => return refused(&state, viewer, agent, &form, error).await,
    };
    let added = read_since(&state, &viewer, &agent, since).await?;
    let terms = state.memory_writer(workspace(&viewer), &agent).map(|one| one.terms);
    let flushed = memory_writer::flush(&state.ledger, &viewer.scope, &agent, terms).await?;
    Ok(Redirect::to(&page_after(&agent, flushed.waits.is_none(), added)).into_response())
}

/// The page with the form as it was sent, and what is wrong with it. Who may not ask for a run has no form.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    agent: String,
    form: &Form,
    error: Error,
) -> Result<Response, PageRejection> {
    if !viewer.scope.may(Permission::ManageSessions) {
        return Err(Problem::new(Code::Forbidden).into());
    }
    let problem = Problem::from(error);
    let mut props = read(state, &viewer, agent).await?;
    props.form = form.refused("run", &problem);
    Ok(refuse(&problem, move || ui::runs_page(&viewer.shell, props)).await)
}

/// Lets the writer read older sessions, if that was asked for. Returns the number of those that it had not read.
async fn read_since(
    state: &AppState,
    viewer: &Viewer,
    agent: &str,
    since: Option<Timestamp>,
) -> ledger::Result<Option<u64>> {
    let Some(since) = since else { return Ok(None) };
    memory_writer::read_since(&state.ledger, &viewer.scope, agent, since).await.map(Some)
}

/// Where a request for a run leads: to the page, which says what the run waits for.
fn page_after(agent: &str, is_due: bool, added: Option<u64>) -> String {
    let notice = if is_due { "memory_run_asked" } else { "memory_run_waits" };
    let added = added.map_or_else(String::new, |added| format!("&added={added}"));
    format!("/agents/{agent}/memory/runs?notice={notice}{added}")
}
