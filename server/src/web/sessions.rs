//! /sessions

use super::shell::{PageRejection, Viewer, render};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    Connect, SessionEntry,
    sessions::{self, Filter, Props},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Html, Response},
    routing::get,
};
use chrono::NaiveDate;
use domain::{
    id::SessionId,
    role::Permission,
    session::{Session, Status, Type},
    slug::is_slug,
};
use ledger::{
    page::{Row, sessions as page},
    session::{self, ListSessions},
    work_queue::is_timezone,
};
use serde::Deserialize;
use wire::Code;

/// Number of rows on a page.
const ROWS: u32 = 50;
/// The agent for which a worker is started in the lines that connect one.
pub const AGENT: &str = "scout";
/// Length of a day as `2026-11-25`.
const DAY_CHARS: usize = 10;

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions", get(show)).route("/sessions/rows", get(rows)).route("/sessions/fresh", get(fresh))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery {
    #[serde(rename = "type")]
    session_type: Option<String>,
    status: Option<String>,
    action_id: Option<String>,
    agent: Option<String>,
    ended: Option<String>,
    ended_since: Option<String>,
    decided: Option<String>,
    answered: Option<String>,
    zone: Option<String>,
    q: Option<String>,
    cursor: Option<String>,
}

/// Returns the text of a filter. The choice "any" of a form arrives as an empty field.
fn non_empty(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Returns the day of a filter.
fn day(text: Option<&String>) -> Option<NaiveDate> {
    // chrono also reads years of more than four digits.
    non_empty(text).filter(|day| day.len() == DAY_CHARS)?.parse().ok()
}

/// A filter as the page shows it, and the list that it selects.
struct Filtered {
    filter: Filter,
    wanted: ListSessions,
}

impl Filtered {
    /// Leaves out what is no value of its filter. Days are those of the time zone that the address names, or else of
    /// the reader's.
    ///
    /// # Errors
    /// [`Code::NotFound`] for an action that cannot exist.
    fn of(query: ListQuery, viewer: &Viewer) -> Result<Self, Problem> {
        let (ended_on, ended_since) = (day(query.ended.as_ref()), day(query.ended_since.as_ref()));
        let (decided_on, answered_on) = (day(query.decided.as_ref()), day(query.answered.as_ref()));
        let has_day = [ended_on, ended_since, decided_on, answered_on].into_iter().flatten().next().is_some();
        let zone = non_empty(query.zone.as_ref()).filter(|zone| is_timezone(zone)).unwrap_or(&viewer.timezone);
        let filter = Filter {
            session_type: non_empty(query.session_type.as_ref()).and_then(Type::parse),
            status: non_empty(query.status.as_ref()).and_then(Status::parse),
            action_id: non_empty(query.action_id.as_ref()).map(str::to_owned),
            agent: non_empty(query.agent.as_ref()).filter(|agent| is_slug(agent)).map(str::to_owned),
            ended: ended_on.map(|day| day.to_string()),
            ended_since: ended_since.map(|day| day.to_string()),
            decided: decided_on.map(|day| day.to_string()),
            answered: answered_on.map(|day| day.to_string()),
            zone: has_day.then(|| zone.to_owned()),
            q: non_empty(query.q.as_ref()).map(str::to_owned),
        };
        let action_id = match &filter.action_id {
            Some(text) => Some(text.parse().map_err(|_| Problem::new(Code::NotFound))?),
            None => None,
        };
        let wanted = ListSessions {
            session_type: filter.session_type,
            status: filter.status,
            action_id,
            agent_slug: filter.agent.clone(),
            parent_id: None,
            title_contains: filter.q.clone(),
            ended_on,
            ended_since,
            decided_on,
            answered_on,
            timezone: filter.zone.clone(),
            limit: ROWS,
            cursor: query.cursor,
        };
        Ok(Self { filter, wanted })
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let Filtered { filter, wanted } = Filtered::of(query, &viewer)?;
    let is_continued = wanted.cursor.is_some();
    let page = page::read(&state.ledger, &viewer.scope, wanted).await?;
    let reader_zone = viewer.timezone.clone();
    let props = Props { filter, reader_zone, is_continued, connect: Some(connect(&viewer)), ..props(page) };
    Ok(render(StatusCode::OK, move || sessions::page(&viewer.shell, props)).await)
}

/// Converts what was read.
fn props(page: page::Page) -> Props {
    Props {
        entries: page.rows.into_iter().map(entry).collect(),
        actions: page.actions.into_iter().map(|action| (action.id.to_string(), action.name)).collect(),
        next_cursor: page.next_cursor,
        ..Props::default()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FreshQuery {
    /// Id of the newest session of the page; empty if it shows none.
    after: String,
    #[serde(flatten)]
    list: ListQuery,
}

/// How many sessions of a list are newer than its page, as the text of a link. Empty for none.
async fn fresh(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<FreshQuery>,
) -> Result<String, PageRejection> {
    let Filtered { wanted, .. } = Filtered::of(query.list, &viewer)?;
    let after = query.after.parse::<SessionId>().ok();
    let newest = session::list(&state.ledger, &viewer.scope, wanted).await?;
    let is_new = |session: &&Session| after.is_none_or(|after| session.id > after);
    let count = newest.items.iter().take_while(is_new).count() as u64;
    let more = if count == u64::from(ROWS) { "+" } else { "" };
    Ok(if count == 0 { String::new() } else { format!("{count}{more} new") })
}

#[derive(Deserialize)]
struct RowsQuery {
    ids: String,
}

async fn rows(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<RowsQuery>,
) -> Result<Html<String>, PageRejection> {
    let ids: Vec<SessionId> = query.ids.split(',').filter_map(|id| id.parse().ok()).collect();
    let rows = page::by_ids(&state.ledger, &viewer.scope, ids).await?;
    let entries: Vec<_> = rows.into_iter().map(entry).collect();
    Ok(Html(sessions::rows_fragment(&viewer.shell, &entries)))
}

/// Converts a session to a row of a list, with its open gate if there is one.
pub fn entry(row: Row) -> SessionEntry {
    let gate = row.gate.filter(|_| row.session.status() == Status::WaitingHuman);
    SessionEntry {
        action_name: row.action_name,
        action_status: row.action_status,
        asks: gate.map(|item| app::inbox::summary(&wire_map::approval(item), &row.labels, &row.unchanged)),
        last_event: row.newest.map(wire_map::event),
        failure: row.failure.map(wire_map::session_failure),
        ..SessionEntry::new(wire_map::session(row.session))
    }
}

/// The three commands that connect an agent to this server. Showing them creates no token; the button does.
pub fn connect(viewer: &Viewer) -> Connect {
    Connect {
        base_url: viewer.origin.clone(),
        token: None,
        may_create_token: viewer.scope.user_id().is_some() && viewer.scope.may(Permission::Work),
        agent_slug: AGENT.into(),
        connection: None,
    }
}
