//! /today

use super::{
    answer::question,
    new_secret::Made,
    sessions::{AGENT, entry},
    shell::{PageRejection, Viewer, render},
    stalled::stalled_of,
};
use crate::{cookie, cookie::NewSecret, extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    Connect, Connection, connection_fragment,
    today::{self, Gate, Props, Section, Trend},
    ui::questions::Question,
    worker_token_name,
};
use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header::SET_COOKIE},
    response::{Html, Response},
    routing::get,
};
use domain::{gate::GateKind, work_queue::Bucket};
use ledger::{
    Ledger, Scope, TokenRecord,
    gate::MayDecide,
    live::{Progress, progress},
    page::today as page,
    token,
    work_queue::{self, QueueScope},
};
use serde::Deserialize;
use wire::Code;

/// Path of the page.
pub(super) const PAGE: &str = "/today";

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/today", get(show))
        .route("/today/courses", get(trends))
        .route("/today/questions", get(questions))
        .route("/today/connection", get(connection))
        .route("/today/section/{bucket}", get(section))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TodayQuery {
    bucket: Option<String>,
    timezone: Option<String>,
    /// `me` or `all`. Default: the value of the last visit, from a cookie.
    assigned_to: Option<String>,
}

impl TodayQuery {
    /// The time zone of the query, or else of the browser. The bucket "done" begins at midnight in it.
    fn timezone<'a>(&'a self, viewer: &'a Viewer) -> &'a str {
        self.timezone.as_deref().unwrap_or(&viewer.timezone)
    }

    fn whose(&self, headers: &HeaderMap) -> QueueScope {
        match self.assigned_to.as_deref().or_else(|| cookie::today(headers)) {
            Some("all") => QueueScope::Everyone,
            _ => QueueScope::Mine,
        }
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<TodayQuery>,
    made: Made,
    headers: HeaderMap,
) -> Result<Response, PageRejection> {
    let whose = query.whose(&headers);
    let page = page::read(&state.ledger, &viewer.scope, whose, query.timezone(&viewer)).await?;
    let everyone = whose == QueueScope::Everyone;
    let token = made.secret(NewSecret::Token, &viewer).map(str::to_owned);
    let shown = token.is_some().then_some(&made);
    let connect = connect(&state, &viewer, token, page.nothing_ever_ran).await?;
    let props = Props { connect, ..props(&state.ledger, &viewer, &query, (page, everyone)) };
    let mut response = render(StatusCode::OK, move || today::page(&viewer.shell, props)).await;
    set_cookies(&state, &query, shown, &mut response);
    Ok(response)
}

/// Keeps the choice of the address, and forgets a token that the page has shown.
fn set_cookies(state: &AppState, query: &TodayQuery, shown: Option<&Made>, response: &mut Response) {
    if let Some(of) = query.assigned_to.as_deref() {
        response.headers_mut().append(SET_COOKIE, cookie::set_today(of == "all"));
    }
    if let Some(made) = shown {
        made.forget(state, NewSecret::Token, PAGE, response);
    }
}

/// How an agent is connected, with the token that was made for it: shown with that token, and until anything ran.
async fn connect(
    state: &AppState,
    viewer: &Viewer,
    token: Option<String>,
    nothing_ever_ran: bool,
) -> Result<Option<Connect>, PageRejection> {
    if !nothing_ever_ran && token.is_none() {
        return Ok(None);
    }
    let connection = connected(state, viewer).await?;
    Ok(Some(Connect { token, connection, ..super::sessions::connect(viewer) }))
}

/// Whether the agent has used the token that a button of the page made for it; `None` if there is no such token, or the
/// viewer may not see it.
async fn connected(state: &AppState, viewer: &Viewer) -> Result<Option<Connection>, PageRejection> {
    // Tokens see no tokens.
    if viewer.scope.user_id().is_none() {
        return Ok(None);
    }
    let name = worker_token_name(AGENT);
    let tokens = token::list(&state.ledger, &viewer.scope).await?;
    let of_agent = |token: &&TokenRecord| token.name == name && token.revoked_at.is_none();
    let token = tokens.iter().filter(of_agent).max_by_key(|token| token.created_at);
    Ok(token.map(|token| token.last_used_at.map_or(Connection::Waiting, Connection::Connected)))
}

/// Whether the agent is connected.
async fn connection(State(state): State<AppState>, viewer: Viewer) -> Result<Html<String>, PageRejection> {
    Ok(Html(connection_fragment(AGENT, connected(&state, &viewer).await?)))
}

/// Converts what was read, without how to connect an agent.
fn props(ledger: &Ledger, viewer: &Viewer, query: &TodayQuery, (page, everyone): (page::Page, bool)) -> Props {
    let section = |found| section_of(ledger, &viewer.scope, (found, everyone));
    let counts = page.counts;
    Props {
        picked: query.bucket.as_deref().and_then(Bucket::parse),
        everyone,
        counts: [counts.needs_me, counts.running, counts.delegatable, counts.failed, counts.done_today],
        timezone: query.timezone(viewer).to_owned(),
        sections: page.sections.into_iter().map(section).collect(),
        questions: page.questions.into_iter().map(question_of).collect(),
        stalled: stalled_of(page.stalled),
        connect: None,
        day: page.day.map(|day| super::working_on::day_of(viewer, day, false)),
    }
}

/// The trends below the counts.
async fn trends(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<TodayQuery>,
    headers: HeaderMap,
) -> Result<Html<String>, PageRejection> {
    let day = work_queue::day(&state.ledger, &viewer.scope, query.whose(&headers), query.timezone(&viewer)).await?;
    let questions = page::questions(&state.ledger, &viewer.scope).await?.len() as u64;
    Ok(Html(today::trend_fragment(&trends_of(day), questions)))
}

/// Converts the trends of a day, up to the present hour.
fn trends_of(day: work_queue::Day) -> [Trend; 4] {
    let trend = |bucket, trend: work_queue::Trend| {
        let hours = trend.hours.into_iter().take(day.hours).collect();
        Trend { bucket, at: trend.at, hours }
    };
    [
        trend(Bucket::NeedsMe, day.needs_me),
        trend(Bucket::Running, day.running),
        trend(Bucket::Failed, day.failed),
        trend(Bucket::DoneToday, day.done_today),
    ]
}

/// Converts a question, with what the viewer can see of its session.
fn question_of(found: page::OpenQuestion) -> Question {
    let (title, agent) = found.session.map(|session| (session.title, session.agent_slug)).unzip();
    Question { session_title: title, agent: agent.flatten(), ..question(found.request) }
}

/// The questions for which no session waits.
async fn questions(State(state): State<AppState>, viewer: Viewer) -> Result<Html<String>, PageRejection> {
    let open = page::questions(&state.ledger, &viewer.scope).await?;
    let questions: Vec<_> = open.into_iter().map(question_of).collect();
    Ok(Html(today::questions_fragment(&questions)))
}

async fn section(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(bucket): Path<String>,
    Params(query): Params<TodayQuery>,
    headers: HeaderMap,
) -> Result<Html<String>, PageRejection> {
    let bucket = Bucket::parse(&bucket).ok_or(Problem::new(Code::NotFound))?;
    let whose = query.whose(&headers);
    let section = page::section(&state.ledger, &viewer.scope, whose, bucket, query.timezone(&viewer)).await?;
    let shown = section_of(&state.ledger, &viewer.scope, (section, whose == QueueScope::Everyone));
    Ok(Html(today::section_fragment(&viewer.shell, &shown)))
}

/// How far a worker is, in words.
fn progress_words(Progress { done, total, note, .. }: &Progress) -> String {
    let steps = total.map_or_else(|| done.to_string(), |total| format!("{done}/{total}"));
    match note {
        Some(note) => format!("{steps} {note}"),
        None => steps,
    }
}

/// Converts a section, with the gates that the viewer may decide, and the progress of workers.
fn section_of(ledger: &Ledger, scope: &Scope, (found, everyone): (page::Section, bool)) -> Section {
    let running = found.rows.iter().filter(|_| found.bucket == Bucket::Running).map(|row| &row.session);
    let progress = running.filter_map(|session| {
        let last = progress(ledger, scope, session.id)?;
        // What a lost worker did is done again by the next one.
        (last.attempt == session.attempt).then(|| (session.id.to_string(), progress_words(&last)))
    });
    let progress = progress.collect();
    let waits = found.rows.iter().filter_map(|row| row.gate.as_ref()).filter(|_| found.bucket == Bucket::NeedsMe);
    let gates = waits.map(|item| {
        let may_decide = item.may_decide == MayDecide::Yes;
        let (id, asks) = (item.gate.id.to_string(), item.gate.kind == GateKind::Question);
        (item.gate.session_id.to_string(), Gate { id, may_decide, asks })
    });
    Section {
        bucket: found.bucket,
        everyone,
        gates: gates.collect(),
        progress,
        sessions: found.rows.into_iter().map(entry).collect(),
        actions: found.actions.into_iter().map(wire_map::action).collect(),
        has_more: found.has_more,
        total: found.total,
        unassigned_failures: found.unassigned_failures,
    }
}
