//! /sessions

use super::{
    form::Form,
    people::people_of,
    search_line::{non_empty, read_line, refused_line},
    shell::{PageRejection, Viewer, local_path, render_or_refuse, saved_entries},
};
use crate::{cookie, extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    Connect, FieldError, FormState, SessionEntry,
    sessions::{self, COMPACT, Columns, CountedSearch, Filter, ListColumn, Props, RowLook},
    shell::saved_fragment,
};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, header::SET_COOKIE},
    response::{Html, IntoResponse as _, Redirect, Response},
    routing::{get, post},
};
use chrono::NaiveDate;
use domain::{
    id::SessionId,
    role::Permission,
    search::{Line, Test},
    session::{Session, Sort, Status, Type},
    tool::run::is_agent,
};
use ledger::{
    Error,
    page::{
        Row,
        sessions::{self as page, Beside},
    },
    search::SearchLine,
    session::{self, ListSessions},
    work_queue::is_timezone,
};
use serde::Deserialize;
use wire::Code;

/// Path of the page.
const PAGE: &str = "/sessions";
/// Number of rows on a page.
const ROWS: u32 = 50;
/// The agent for which a worker is started in the lines that connect one.
pub const AGENT: &str = "scout";
/// Length of a day as `2026-11-25`.
const DAY_CHARS: usize = 10;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/sessions", get(show))
        .route("/sessions/rows", get(rows))
        .route("/sessions/fresh", get(fresh))
        .route("/sessions/columns", post(choose_columns))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListQuery {
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
    sort: Option<String>,
    cursor: Option<String>,
}

impl ListQuery {
    /// The filter that a form sends with the selected sessions.
    pub(super) fn of_form(form: &Form) -> Self {
        Self {
            action_id: form.optional("actionId"),
            ended: form.optional("ended"),
            ended_since: form.optional("endedSince"),
            decided: form.optional("decided"),
            answered: form.optional("answered"),
            zone: form.optional("zone"),
            q: form.optional("q"),
            sort: form.optional("sort"),
            ..Self::default()
        }
    }
}

/// Reads the day of a filter in an address, such as `2026-01-31`; `None` for anything else.
pub fn day(text: Option<&String>) -> Option<NaiveDate> {
    // chrono also reads years of more than four digits.
    non_empty(text).filter(|day| day.len() == DAY_CHARS)?.parse().ok()
}

/// A filter as the page shows it, and the list that it selects.
pub(super) struct Filtered {
    filter: Filter,
    /// The list that the filter selects.
    pub(super) wanted: ListSessions,
    /// Why `q` is no search, or `sort` no order.
    pub(super) form: FormState,
}

/// The line of the address, with the conditions that addresses name in fields of their own, and what is wrong with it.
fn line(query: &ListQuery) -> (Line, FormState) {
    let (mut line, form) = read_line(non_empty(query.q.as_ref()).unwrap_or_default());
    if let Some(session_type) = non_empty(query.session_type.as_ref()).and_then(Type::parse) {
        line.widen(Test::Type(vec![session_type]));
    }
    if let Some(status) = non_empty(query.status.as_ref()).and_then(Status::parse) {
        line.widen(Test::Status(vec![status]));
    }
    if let Some(agent) = non_empty(query.agent.as_ref()).filter(|agent| is_agent(agent)) {
        line.widen(Test::Agent(vec![agent.to_owned()]));
    }
    (line, form)
}

/// The order of the address. Adds an error to the form if there is no such order.
fn sort(query: &ListQuery, form: &mut FormState) -> Sort {
    let Some(text) = non_empty(query.sort.as_ref()) else { return Sort::default() };
    Sort::parse(text).unwrap_or_else(|| {
        let orders = Sort::ALL.map(Sort::as_str).join(", ");
        let message = format!("There is no such order. The orders are {orders}.");
        form.errors.push(FieldError { field: Some("sort".to_owned()), message });
        Sort::default()
    })
}

impl Filtered {
    /// Leaves out what is no value of its filter. Days of the line are those of the reader's time zone. Other days are
    /// those of the time zone that the address names, or else of the reader's.
    ///
    /// # Errors
    /// [`Code::NotFound`] for an action that cannot exist.
    pub(super) fn of(query: ListQuery, viewer: &Viewer) -> Result<Self, Problem> {
        let (ended_on, ended_since) = (day(query.ended.as_ref()), day(query.ended_since.as_ref()));
        let (decided_on, answered_on) = (day(query.decided.as_ref()), day(query.answered.as_ref()));
        let has_day = [ended_on, ended_since, decided_on, answered_on].into_iter().flatten().next().is_some();
        let zone = non_empty(query.zone.as_ref()).filter(|zone| is_timezone(zone)).unwrap_or(&viewer.timezone);
        let (line, mut form) = line(&query);
        let filter = Filter {
            sort: sort(&query, &mut form),
            action_id: non_empty(query.action_id.as_ref()).map(str::to_owned),
            ended: ended_on.map(|day| day.to_string()),
            ended_since: ended_since.map(|day| day.to_string()),
            decided: decided_on.map(|day| day.to_string()),
            answered: answered_on.map(|day| day.to_string()),
            zone: has_day.then(|| zone.to_owned()),
            line,
        };
        let action_id = match &filter.action_id {
            Some(text) => Some(text.parse().map_err(|_| Problem::new(Code::NotFound))?),
            None => None,
        };
        let text = filter.line.to_string();
        let wanted = ListSessions {
            action_id,
            ended_on,
            ended_since,
            decided_on,
            answered_on,
            timezone: filter.zone.clone(),
            query: (!text.is_empty()).then(|| SearchLine { text, timezone: Some(viewer.timezone.clone()) }),
            sort: filter.sort,
            limit: ROWS,
            cursor: query.cursor,
            ..ListSessions::default()
        };
        Ok(Self { filter, wanted, form })
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
    headers: HeaderMap,
) -> Result<Response, PageRejection> {
    let columns = Columns::parse(cookie::columns(&headers));
    let Filtered { filter, wanted, form } = Filtered::of(query, &viewer)?;
    let is_continued = wanted.cursor.is_some();
    let (page, form) = read(&state, &viewer, wanted, form, &columns).await?;
    let problem = form.is_refused().then(|| Problem::new(Code::InvalidRequest));
    let (reader_zone, connect) = (viewer.timezone.clone(), Some(connect(&viewer)));
    let props = Props { filter, form, columns, reader_zone, is_continued, connect, ..props(page) };
    Ok(render_or_refuse(problem.as_ref(), move || sessions::page(&viewer.shell, props)).await)
}

/// Keeps the columns and the density that a person chose, and leads back to the list.
async fn choose_columns(State(state): State<AppState>, _: Viewer, form: Form) -> Response {
    let is_shown = |column: ListColumn| form.has(&format!("column.{}", column.as_str()));
    let columns = Columns::of(is_shown, form.text("density") == COMPACT);
    let next = form.optional("next");
    let mut response = Redirect::to(local_path(Some(next.as_deref().unwrap_or(PAGE)))).into_response();
    if let Some(cookie) = state.cookies.set_columns(&columns.text()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Reads the list. Without a session if the line was refused, here or because it names someone who does not exist.
async fn read(
    state: &AppState,
    viewer: &Viewer,
    wanted: ListSessions,
    form: FormState,
    columns: &Columns,
) -> Result<(page::Page, FormState), PageRejection> {
    if form.is_refused() {
        return Ok((page::Page::default(), form));
    }
    let typed = wanted.query.as_ref().map(|line| line.text.clone()).unwrap_or_default();
    let beside = Beside { timezone: &viewer.timezone, people: columns.has_people() };
    let read = page::read(&state.ledger, &viewer.scope, wanted, beside).await;
    or_refused(read, form, &typed)
}

/// The list, or the state of the form if the line was refused.
fn or_refused(
    read: ledger::Result<page::Page>,
    form: FormState,
    typed: &str,
) -> Result<(page::Page, FormState), PageRejection> {
    match read {
        Ok(page) => Ok((page, form)),
        Err(Error::Invalid(issues)) if issues.iter().any(|issue| issue.field == "q") => {
            Ok((page::Page::default(), refused_line(typed, &issues)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Converts what was read.
fn props(page: page::Page) -> Props {
    Props {
        entries: page.rows.into_iter().map(entry).collect(),
        actions: page.actions.into_iter().map(|action| (action.id.to_string(), action.name)).collect(),
        agents: page.agents,
        next_cursor: page.next_cursor,
        saved: page.saved.into_iter().map(counted).collect(),
        saved_total: page.saved_total,
        people: page.people.map(people_of).unwrap_or_default(),
        ..Props::default()
    }
}

/// Converts a saved search and its number of sessions.
fn counted(found: page::CountedSearch) -> CountedSearch {
    let count = found.count.map(|counted| (counted.number, counted.has_more));
    CountedSearch { search: wire_map::saved_search(found.search), count }
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
    /// Sent for a list in which sessions are selected.
    select: Option<String>,
    /// Columns of the rows; the default without it.
    columns: Option<String>,
    /// Whether the links to saved searches follow, with their numbers.
    saved: Option<String>,
}

async fn rows(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<RowsQuery>,
) -> Result<Html<String>, PageRejection> {
    let ids: Vec<SessionId> = query.ids.split(',').filter_map(|id| id.parse().ok()).collect();
    let columns = Columns::parse(query.columns.as_deref());
    let (rows, people) = page::by_ids(&state.ledger, &viewer.scope, ids, columns.has_people()).await?;
    let entries: Vec<_> = rows.into_iter().map(entry).collect();
    let people = people.map(people_of).unwrap_or_default();
    let look = RowLook { columns: &columns, people: &people, is_selectable: query.select.is_some() };
    let saved = saved_part(&state, &viewer, query.saved.is_some()).await?;
    Ok(Html(sessions::rows_fragment(&viewer.shell, &entries, look) + &saved))
}

/// The links to saved searches with their present numbers, if they are asked for.
async fn saved_part(state: &AppState, viewer: &Viewer, is_asked_for: bool) -> Result<String, Error> {
    let entries = match is_asked_for {
        true => saved_entries(&state.ledger, &viewer.scope, &viewer.timezone).await?,
        false => Vec::new(),
    };
    Ok(saved_fragment(&entries))
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
