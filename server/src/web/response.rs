//! /views/{slug}/responses

use super::{
    people::people_of,
    shell::{PageRejection, Viewer, render},
};
use crate::{extract::Params, state::AppState, wire_map};
use app::view::{self as ui, ResponseFilter, ResponseRow, ResponsesProps};
use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use chrono::{NaiveDate, NaiveTime};
use domain::{
    Timestamp,
    criteria_set::SafetyGate,
    response::{RespondentKind, ResponseStatus, Scores},
    response_table::Column,
};
use ledger::{ListPage, ResponseRecord, page::response as page, response::ListResponses};
use serde::Deserialize;

/// Columns of answers on the page. The CSV file has all.
const COLUMNS: usize = 12;

pub fn router() -> Router<AppState> {
    Router::new().route("/views/{slug}/responses", get(show))
}

/// The query. The choice "any" of a form arrives as an empty field, and what cannot be read is ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ListQuery {
    status: String,
    version: String,
    from: String,
    to: String,
    cursor: Option<String>,
}

impl ListQuery {
    fn filter(&self) -> ResponseFilter {
        let day = |text: &str| text.trim().parse::<NaiveDate>().ok();
        ResponseFilter {
            status: ResponseStatus::parse(self.status.trim()),
            version: self.version.trim().parse().ok(),
            from: day(&self.from),
            to: day(&self.to),
        }
    }
}

fn start(day: NaiveDate) -> Timestamp {
    day.and_time(NaiveTime::MIN).and_utc()
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Path(slug): Path<String>,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let (filter, is_continued) = (query.filter(), query.cursor.is_some());
    match page::read(&state.ledger, &viewer.scope, slug.clone(), wanted(&filter, query.cursor)).await? {
        page::Found::Page(page) => {
            let props = props(*page, filter, is_continued);
            Ok(render(StatusCode::OK, move || ui::responses_page(&viewer.shell, props)).await)
        }
        page::Found::NewestOnly(version) => Ok(newest_version_only(&slug, filter, version).into_response()),
    }
}

/// The responses that the filter selects.
fn wanted(filter: &ResponseFilter, cursor: Option<String>) -> ListResponses {
    ListResponses {
        status: filter.status,
        version: filter.version,
        created_from: filter.from.map(start),
        created_before: filter.before().map(start),
        page: ListPage { limit: 0, cursor },
        ..ListResponses::default()
    }
}

/// Redirects to the responses for the newest version, because there are too many questions for one table. The page says
/// so, and its filter has the other versions. The rest of the filter is kept; a cursor of the larger list means nothing
/// in this one.
fn newest_version_only(slug: &str, filter: ResponseFilter, newest: u64) -> Redirect {
    let href = ResponseFilter { version: Some(newest), ..filter }.href(&format!("/views/{slug}"), None);
    Redirect::to(&format!("{href}&notice=newest_version_only"))
}

fn props(page: page::Page, filter: ResponseFilter, is_continued: bool) -> ResponsesProps {
    let page::Page { view, counts, versions, columns, fields, responses, leads, charts, counted, is_partial, people } =
        page;
    let people = people_of(people);
    let left_out = columns.len().saturating_sub(COLUMNS);
    let shown = &columns[..columns.len().min(COLUMNS)];
    let row = |response: ResponseRecord| {
        let lead = response.lead_entity_id.and_then(|id| leads.get(&id));
        let fields = fields.get(&response.version).map(Vec::as_slice).unwrap_or_default();
        let who = match (response.respondent_kind, lead) {
            (RespondentKind::User, _) => people.word(&format!("user:{}", response.respondent)),
            (RespondentKind::Token, _) => people.word(&format!("token:{}", response.respondent)),
            (RespondentKind::Lead, Some(lead)) => lead.name.clone(),
            (RespondentKind::Lead, None) => "Someone who gave a name".to_owned(),
            (_, _) => "Someone with the link".to_owned(),
        };
        ResponseRow {
            id: response.session_id.to_string(),
            who,
            email: lead.and_then(|lead| lead.email.clone()),
            status: wire_map::response_status(&response),
            version: response.version,
            late: response.late,
            at: response.submitted_at.unwrap_or(response.saved_at),
            scores: scores(&response.scores),
            cells: shown.iter().map(|column| ui::answer_text(column, fields, &response.answers)).collect(),
        }
    };
    let has_scores = responses.items.iter().any(|response| !response.scores.is_empty());
    let rows = responses.items.into_iter().map(row).collect();
    ResponsesProps {
        form: wire_map::view(view),
        submitted: counts.submitted,
        drafts: counts.drafts,
        versions,
        filter,
        columns: shown.iter().map(|Column { label, .. }| label.clone()).collect(),
        left_out,
        has_scores,
        rows,
        charts,
        counted,
        is_partial,
        next_cursor: responses.next_cursor,
        is_continued,
    }
}

/// The results of the safety gate as text, in the order of the keys.
fn scores(scores: &Scores) -> Vec<String> {
    let text = |score: &SafetyGate| match score {
        SafetyGate::Blocked { dimension, .. } => format!("blocked by {dimension}"),
        SafetyGate::Passed { score: Some(score), .. } => format!("{score:.2}"),
        SafetyGate::Passed { score: None, .. } => "no score".to_owned(),
    };
    scores.values().map(text).collect()
}
