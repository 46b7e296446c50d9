//! /agents/{slug}/memory/runs: the runs of an agent's memory writer, and the form that asks for one.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, refuse, render},
};
use crate::{extract::AgentSlug, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    memory::{self as ui, RunsProps, WriterSettings, WriterState},
};
use axum::{
    Router,
    extract::{Query, State},
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
    Query(query): Query<ShowQuery>,
) -> Result<Response, PageRejection> {
    let mut props = read(&state, &viewer, agent).await?;
    props.added_sessions = query.added.and_then(|added| added.parse().ok());
    Ok(render(StatusCode::OK, move || ui::runs_page(&viewer.shell, props)).await)
}

/// Reads what the page shows, without a request that was made.
async fn read(state: &AppState, viewer: &Viewer, agent: String) -> Result<RunsProps, PageRejection> {
    let page = page::runs(&state.ledger, &viewer.scope, &agent).await?;
    let settings = state.memory_writer(workspace(viewer), &agent);
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
    Ok(RunsProps { agent, settings, state: writer, runs, added_sessions: None, form: FormState::default() })
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
        Err(error) if viewer.scope.may(Permission::ManageSessions) => {
            let problem = Problem::from(error);
            let mut props = read(&state, &viewer, agent).await?;
            props.form = form.refused("run", &problem);
            return Ok(refuse(&problem, move || ui::runs_page(&viewer.shell, props)).await);
        }
        // The page has no form for them.
        Err(_) => return Err(Problem::new(Code::Forbidden).into()),
    };
    let terms = state.memory_writer(workspace(&viewer), &agent).map(|one| one.terms);
    let added = match since {
        Some(since) => {
            let added = memory_writer::read_since(&state.ledger, &viewer.scope, &agent, since).await?;
            format!("&added={added}")
        }
        None => String::new(),
    };
    let flushed = memory_writer::flush(&state.ledger, &viewer.scope, &agent, terms).await?;
    // The page says what the run waits for.
    let notice = if flushed.waits.is_none() { "memory_run_asked" } else { "memory_run_waits" };
    Ok(Redirect::to(&format!("/agents/{agent}/memory/runs?notice={notice}{added}")).into_response())
}
