//! /today

use super::{
    sessions::entries,
    shell::{Turned, Viewer, render},
};
use crate::{problem::Problem, state::AppState, wire_map};
use app::today::{self, Props, Section};
use axum::{
    Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{Html, Response},
    routing::get,
};
use domain::{gate::GateState, work_queue::Bucket};
use ledger::{
    gate::{self, GateFilter, ListGates},
    session, work_queue,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use wire::Code;

/// Rows of one section.
const ROWS_MAX: u32 = 25;
/// Gates looked through for those of the sessions that are shown.
const GATES_MAX: u32 = 200;

pub fn router() -> Router<AppState> {
    Router::new().route("/today", get(show)).route("/today/section/{bucket}", get(section))
}

#[derive(Deserialize)]
struct TodayQuery {
    bucket: Option<String>,
    timezone: Option<String>,
}

impl TodayQuery {
    /// The browser's zone where it says one. The done bucket of a page without JavaScript begins at midnight UTC.
    fn timezone(&self) -> &str {
        self.timezone.as_deref().unwrap_or("UTC")
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<TodayQuery>,
) -> Result<Response, Turned> {
    let mut sections = Vec::new();
    for bucket in Bucket::ALL {
        sections.push(read(&state, &viewer, bucket, query.timezone()).await?);
    }
    let nothing_ever_ran =
        session::list(&state.ledger, &viewer.scope, session::ListSessions { limit: 1, ..Default::default() });
    let connect = nothing_ever_ran.await?.items.is_empty().then(|| super::sessions::connect(&viewer));
    let picked = query.bucket.as_deref().and_then(Bucket::parse);
    let day = match viewer.scope.user_id() {
        Some(_) => Some(super::working_on::day(&state, &viewer, query.timezone(), false).await?),
        None => None,
    };
    Ok(render(StatusCode::OK, move || today::page(&viewer.shell, Props { picked, sections, connect, day })).await)
}

async fn section(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(bucket): Path<String>,
    Query(query): Query<TodayQuery>,
) -> Result<Html<String>, Turned> {
    let bucket = Bucket::parse(&bucket).ok_or(Problem::new(Code::NotFound))?;
    let section = read(&state, &viewer, bucket, query.timezone()).await?;
    Ok(Html(today::section_fragment(&viewer.shell, &section)))
}

async fn read(state: &AppState, viewer: &Viewer, bucket: Bucket, timezone: &str) -> Result<Section, Turned> {
    let mut rows = work_queue::section(&state.ledger, &viewer.scope, bucket, timezone, ROWS_MAX + 1).await?;
    let keep = ROWS_MAX as usize;
    let has_more = rows.sessions.len() > keep || rows.actions.len() > keep;
    rows.sessions.truncate(keep);
    rows.actions.truncate(keep);
    let sessions = entries(state, &viewer.scope, rows.sessions).await?;
    let actions = rows.actions.into_iter().map(wire_map::action).collect();
    let gates = if bucket == Bucket::NeedsMe { gates(state, viewer).await? } else { BTreeMap::new() };
    Ok(Section { bucket, sessions, actions, gates, has_more })
}

/// The open gates that the viewer may decide, by the session that waits.
async fn gates(state: &AppState, viewer: &Viewer) -> Result<BTreeMap<String, String>, Turned> {
    let filter = GateFilter::In(GateState::Open);
    let wanted = ListGates { filter, kind: None, all: false, limit: GATES_MAX, cursor: None };
    let listed = gate::list(&state.ledger, &viewer.scope, wanted).await?;
    Ok(listed.items.into_iter().map(|item| (item.gate.session_id.to_string(), item.gate.id.to_string())).collect())
}
