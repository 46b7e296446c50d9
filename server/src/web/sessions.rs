//! /sessions

use super::shell::{Turned, Viewer, render};
use crate::{problem::Problem, state::AppState, wire_map};
use app::{
    Connect, SessionEntry,
    sessions::{self, Filter, Props},
};
use axum::{
    Router,
    extract::{Query, State},
    http::StatusCode,
    response::{Html, Response},
    routing::get,
};
use domain::{
    id::SessionId,
    role::Permission,
    session::{Status, Type},
};
use ledger::{Scope, SessionRecord, action, event, failure, gate, session};
use serde::Deserialize;
use std::collections::HashMap;
use wire::Code;

/// Rows of one page.
const ROWS: u32 = 50;
/// Actions offered as a filter.
const ACTIONS_MAX: u32 = 200;

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions", get(show)).route("/sessions/rows", get(rows))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery {
    #[serde(rename = "type")]
    session_type: Option<String>,
    status: Option<String>,
    action_id: Option<String>,
    q: Option<String>,
    cursor: Option<String>,
}

/// A form's "any" arrives as an empty field.
fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Response, Turned> {
    let filter = Filter {
        session_type: given(query.session_type.as_ref()).and_then(Type::parse),
        status: given(query.status.as_ref()).and_then(Status::parse),
        action_id: given(query.action_id.as_ref()).map(str::to_owned),
        q: given(query.q.as_ref()).map(str::to_owned),
    };
    let action_id = match &filter.action_id {
        Some(text) => Some(text.parse().map_err(|_| Problem::new(Code::NotFound))?),
        None => None,
    };
    let wanted = session::ListSessions {
        session_type: filter.session_type,
        status: filter.status,
        action_id,
        parent_id: None,
        title_contains: filter.q.clone(),
        limit: ROWS,
        cursor: query.cursor.clone(),
    };
    let listed = session::list(&state.ledger, &viewer.scope, wanted).await?;
    let known = action::ListActions { limit: ACTIONS_MAX, ..Default::default() };
    let actions = action::list(&state.ledger, &viewer.scope, known).await?.items;
    let props = Props {
        entries: entries(&state, &viewer.scope, listed.items).await?,
        connect: Some(connect(&viewer)),
        filter,
        actions: actions.into_iter().map(|action| (action.id.to_string(), action.name)).collect(),
        next_cursor: listed.next_cursor,
        is_continued: query.cursor.is_some(),
    };
    Ok(render(StatusCode::OK, move || sessions::page(&viewer.shell, props)).await)
}

#[derive(Deserialize)]
struct RowsQuery {
    ids: String,
}

async fn rows(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<RowsQuery>,
) -> Result<Html<String>, Turned> {
    let ids: Vec<SessionId> = query.ids.split(',').filter_map(|id| id.parse().ok()).collect();
    let found = session::list_by_ids(&state.ledger, &viewer.scope, &ids).await?;
    let entries = entries(&state, &viewer.scope, found).await?;
    Ok(Html(sessions::rows_fragment(&viewer.shell, &entries)))
}

/// Sessions with what their rows need beside them: the newest event of each, the failure of those that failed, and what
/// those ask for that wait for a decision.
pub async fn entries(
    state: &AppState,
    scope: &Scope,
    records: Vec<SessionRecord>,
) -> Result<Vec<SessionEntry>, Turned> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<SessionId> = records.iter().map(|record| record.id).collect();
    let newest = event::newest(&state.ledger, scope, &ids).await?;
    let mut newest: HashMap<SessionId, _> = newest.into_iter().map(|event| (event.session_id, event)).collect();
    let failed = records.iter().filter(|record| matches!(record.status, Status::Failed | Status::Expired));
    let failed: Vec<SessionId> = failed.map(|record| record.id).collect();
    let failures = failure::of_sessions(&state.ledger, scope, &failed).await?;
    let mut failures: HashMap<SessionId, _> = failures.into_iter().map(|known| (known.session_id, known)).collect();
    // What has ended is offered to be run again, unless its action is archived.
    let ended = records.iter().filter(|record| record.status.is_final());
    let statuses =
        action::statuses(&state.ledger, scope, ended.filter_map(|record| record.action_id).collect()).await?;
    let waiting = records.iter().filter(|record| record.status == Status::WaitingHuman).map(|record| record.id);
    let asked = gate::of_sessions(&state.ledger, scope, waiting.collect()).await?;
    let asked = asked.into_iter().map(|item| (item.gate.session_id, app::inbox::summary(&wire_map::approval(item))));
    let mut asked: HashMap<SessionId, String> = asked.collect();
    let entry = |record: SessionRecord| {
        let asks = asked.remove(&record.id);
        let last_event = newest.remove(&record.id).map(wire_map::event);
        let failure = failures.remove(&record.id).map(wire_map::session_failure);
        let action_status = record.action_id.and_then(|id| statuses.get(&id).copied());
        SessionEntry { action_status, last_event, failure, asks, ..SessionEntry::new(wire_map::session(record)) }
    };
    Ok(records.into_iter().map(entry).collect())
}

/// The three lines that connect an agent to this server. A page that is only looked at makes no token; its button does.
pub fn connect(viewer: &Viewer) -> Connect {
    Connect {
        base_url: viewer.origin.clone(),
        token: None,
        may_make_token: viewer.scope.user_id().is_some() && viewer.scope.may(Permission::Work),
        agent_slug: "scout".into(),
    }
}
