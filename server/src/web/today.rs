//! /today

use super::{
    sessions::entries,
    shell::{Turned, Viewer, render},
};
use crate::{cookie, problem::Problem, state::AppState, wire_map};
use app::today::{self, Course, Gate, Props, Section};
use axum::{
    Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header::SET_COOKIE},
    response::{Html, Response},
    routing::get,
};
use domain::work_queue::Bucket;
use ledger::{
    gate::{self, MayDecide},
    session,
    work_queue::{self, Whose},
};
use serde::Deserialize;
use wire::Code;

/// Rows of one section.
const ROWS_MAX: u32 = 25;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/today", get(show))
        .route("/today/courses", get(courses))
        .route("/today/section/{bucket}", get(section))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TodayQuery {
    bucket: Option<String>,
    timezone: Option<String>,
    /// `me` or `all`; what the browser looked at last when absent.
    assigned_to: Option<String>,
}

impl TodayQuery {
    /// The zone of the address, or else the browser's: the done bucket begins at its midnight.
    fn timezone<'a>(&'a self, viewer: &'a Viewer) -> &'a str {
        self.timezone.as_deref().unwrap_or(&viewer.timezone)
    }

    fn whose(&self, headers: &HeaderMap) -> Whose {
        match self.assigned_to.as_deref().or_else(|| cookie::today(headers)) {
            Some("all") => Whose::Everyone,
            _ => Whose::Mine,
        }
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<TodayQuery>,
    headers: HeaderMap,
) -> Result<Response, Turned> {
    let whose = query.whose(&headers);
    let timezone = query.timezone(&viewer).to_owned();
    let mut sections = Vec::new();
    for bucket in Bucket::ALL {
        sections.push(read(&state, &viewer, whose, bucket, &timezone).await?);
    }
    let counts = work_queue::counts(&state.ledger, &viewer.scope, whose, &timezone).await?;
    let counts = [counts.needs_me, counts.running, counts.delegatable, counts.failed, counts.done_today];
    let nothing_ever_ran =
        session::list(&state.ledger, &viewer.scope, session::ListSessions { limit: 1, ..Default::default() });
    let connect = nothing_ever_ran.await?.items.is_empty().then(|| super::sessions::connect(&viewer));
    let picked = query.bucket.as_deref().and_then(Bucket::parse);
    let day = match viewer.scope.user_id() {
        Some(_) => Some(super::working_on::day(&state, &viewer, &timezone, false).await?),
        None => None,
    };
    let everybody = whose == Whose::Everyone;
    let props = Props { picked, everybody, counts, timezone, sections, connect, day };
    let mut response = render(StatusCode::OK, move || today::page(&viewer.shell, props)).await;
    if query.assigned_to.is_some() {
        response.headers_mut().append(SET_COOKIE, cookie::set_today(everybody));
    }
    Ok(response)
}

/// What stands below the labels of the strip.
async fn courses(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<TodayQuery>,
    headers: HeaderMap,
) -> Result<Html<String>, Turned> {
    let day = work_queue::day(&state.ledger, &viewer.scope, query.whose(&headers), query.timezone(&viewer)).await?;
    let course = |bucket, course: work_queue::Course| {
        let hours = course.hours.into_iter().take(day.hours).collect();
        Course { bucket, at: course.at, hours }
    };
    Ok(Html(today::course_fragment(&[
        course(Bucket::NeedsMe, day.needs_me),
        course(Bucket::Running, day.running),
        course(Bucket::Failed, day.failed),
        course(Bucket::DoneToday, day.done_today),
    ])))
}

async fn section(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(bucket): Path<String>,
    Query(query): Query<TodayQuery>,
    headers: HeaderMap,
) -> Result<Html<String>, Turned> {
    let bucket = Bucket::parse(&bucket).ok_or(Problem::new(Code::NotFound))?;
    let section = read(&state, &viewer, query.whose(&headers), bucket, query.timezone(&viewer)).await?;
    Ok(Html(today::section_fragment(&viewer.shell, &section)))
}

async fn read(
    state: &AppState,
    viewer: &Viewer,
    whose: Whose,
    bucket: Bucket,
    timezone: &str,
) -> Result<Section, Turned> {
    let mut rows = work_queue::section(&state.ledger, &viewer.scope, whose, bucket, timezone, ROWS_MAX + 1).await?;
    let keep = ROWS_MAX as usize;
    let has_more = rows.sessions.len() > keep || rows.actions.len() > keep;
    rows.sessions.truncate(keep);
    rows.actions.truncate(keep);
    let waiting = if bucket == Bucket::NeedsMe { rows.sessions.iter().map(|s| s.id).collect() } else { Vec::new() };
    let gates = gate::of_sessions(&state.ledger, &viewer.scope, waiting).await?;
    let gates = gates.into_iter().map(|item| {
        let may_decide = item.may_decide == MayDecide::Yes;
        (item.gate.session_id.to_string(), Gate { id: item.gate.id.to_string(), may_decide })
    });
    let gates = gates.collect();
    let sessions = entries(state, &viewer.scope, rows.sessions).await?;
    let actions = rows.actions.into_iter().map(wire_map::action).collect();
    let everybody = whose == Whose::Everyone;
    Ok(Section { bucket, everybody, sessions, actions, gates, has_more, of_nobody: rows.of_nobody })
}
