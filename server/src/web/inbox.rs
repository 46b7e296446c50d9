//! /inbox: items that wait for a decision, and decisions. Scripts request fragments of the same pages (`x-fragment`).

use super::{
    form::Form,
    fragment::wants_fragment,
    sessions::entry,
    shell::{PageRejection, Viewer, redirect_with_notice, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    inbox::{self as ui, Detail, List, Props, Shown},
};
use axum::{
    Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{
    gate::{GateState, Verdict},
    id::GateId,
};
use ledger::{
    gate::{self, GateFilter, NewDecision},
    page::inbox::{self as page, Beside, Wanted},
};
use serde::Deserialize;
use std::collections::BTreeMap;
use wire::{Code, approval::Approval};

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/inbox", get(show))
        .route("/inbox/list", get(list))
        .route("/inbox/decisions", post(decide_many))
        .route("/inbox/undo", post(undo))
        .route("/inbox/{id}", get(open))
        .route("/inbox/{id}/detail", get(detail))
        .route("/inbox/{id}/decision", post(decide))
        .route("/inbox/{id}/snooze", post(snooze))
        .route("/needs-you", get(|| async { Redirect::to("/inbox") }))
        .route("/needs-you/{id}", get(|Id(id): Id<GateId>| async move { Redirect::to(&format!("/inbox/{id}")) }))
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery {
    state: Option<String>,
    assigned_to: Option<String>,
    cursor: Option<String>,
    open: Option<String>,
    select: Option<String>,
}

impl ListQuery {
    fn shown(&self) -> Shown {
        self.state.as_deref().map(Shown::parse).unwrap_or_default()
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            filter: match self.shown() {
                Shown::Open => GateFilter::In(GateState::Open),
                Shown::Snoozed => GateFilter::Snoozed,
                Shown::Settled => GateFilter::In(GateState::Settled),
            },
            everyone: self.assigned_to.as_deref() == Some("all"),
            cursor: self.cursor.clone(),
        }
    }
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, &query, Beside::First, FormState::default()).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn open(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, &query, Beside::Item(id), FormState::default()).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Html<String>, PageRejection> {
    Ok(Html(ui::list_fragment(&read_list(&state, &viewer, &query).await?)))
}

async fn detail(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
) -> Result<Html<String>, PageRejection> {
    let found = page::detail(&state.ledger, &viewer.scope, id).await?;
    Ok(Html(ui::detail_fragment(&shown(&viewer, found, None, FormState::default()))))
}

/// Reads the page of a list with one open item: the requested one, or else the first.
async fn read(
    state: &AppState,
    viewer: &Viewer,
    query: &ListQuery,
    beside: Beside,
    form: FormState,
) -> Result<Props, PageRejection> {
    let (found, detail) = page::read(&state.ledger, &viewer.scope, query.wanted(), beside).await?;
    let current = detail.as_ref().map(|detail| detail.found.item.gate.id.to_string());
    let next = current.as_ref().and_then(|current| {
        let at = found.items.iter().position(|item| item.gate.id.to_string() == *current)?;
        Some(found.items.get(at + 1)?.gate.id.to_string())
    });
    let list = List { current, ..listed(viewer, query, found) };
    let detail = detail.map(|found| shown(viewer, found, next, form));
    Ok(Props { list, detail, opened: beside != Beside::First })
}

async fn read_list(state: &AppState, viewer: &Viewer, query: &ListQuery) -> Result<List, PageRejection> {
    let found = page::list(&state.ledger, &viewer.scope, query.wanted()).await?;
    Ok(listed(viewer, query, found))
}

/// A list without an open item.
fn listed(viewer: &Viewer, query: &ListQuery, found: page::List) -> List {
    List {
        titles: found.titles.into_iter().collect(),
        terminal_sessions: found.elsewhere.into_iter().map(entry).collect(),
        shown: query.shown(),
        everyone: query.wanted().everyone,
        items: found.items.into_iter().map(wire_map::approval).collect(),
        next_cursor: found.next_cursor,
        is_continued: query.cursor.is_some(),
        held: found.held.into_iter().map(wire_map::approval).collect(),
        now: viewer.shell.now,
        current: None,
        unfolded: query.open.clone(),
        selected: query.select.clone(),
        refused: BTreeMap::new(),
    }
}

/// An item with its form. A form without typed values gets those of the viewer's decision that was undone.
fn shown(viewer: &Viewer, found: page::Detail, next: Option<String>, form: FormState) -> Detail {
    let item = wire_map::approval_detail(found.found);
    let viewer_id = viewer.scope.user_id().map(|id| id.to_string());
    let before = viewer_id.as_deref().and_then(|viewer_id| ui::undone_form(&item, viewer_id));
    let form = if form == FormState::default() { before.unwrap_or_default() } else { form };
    Detail {
        item,
        next,
        events: found.events.into_iter().map(wire_map::event).collect(),
        titles: found.names.into_iter().collect(),
        relations: super::entity::relations_of(found.relations),
        now: viewer.shell.now,
        viewer_id,
        form,
    }
}

/// Decisions of the viewer that can still be undone.
async fn undoable_decisions(state: &AppState, viewer: &Viewer) -> Result<Vec<Approval>, PageRejection> {
    let items = gate::held(&state.ledger, &viewer.scope, page::ITEMS).await?;
    Ok(items.into_iter().map(wire_map::approval).collect())
}

async fn decide(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let asked = match new_decision(&state, &viewer, id, &form).await {
        Ok(new) => gate::decide(&state.ledger, &viewer.scope, id, new).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match asked {
        Ok(_) => next_item(&state, &viewer, &headers, &form, "decided").await,
        Err(problem) => {
            refused(&state, viewer, id, &headers, form.refused(&form.text("decision"), &problem), &problem).await
        }
    }
}

/// Reads the decision of a form. `gate::decide` finds out whether an approval with values is an edit.
async fn new_decision(state: &AppState, viewer: &Viewer, id: GateId, form: &Form) -> Result<NewDecision, Problem> {
    let unknown = || Problem::field(Code::InvalidRequest, "decision", "approve, deny or respond");
    let (note, digest) = (form.optional("note"), form.optional("digest"));
    let verdict = Verdict::parse(&form.text("decision")).ok_or_else(unknown)?;
    let typed = |name: &str| form.has(name).then(|| form.text(name));
    match verdict {
        Verdict::Approve | Verdict::Edit => {
            let detail = wire_map::approval_detail(gate::get(&state.ledger, &viewer.scope, id).await?);
            let edit = ui::edited(&detail, digest.as_deref(), typed).map_err(super::form::unreadable)?;
            let value = (!edit.is_empty()).then(|| serde_json::Value::Object(edit).to_string());
            Ok(NewDecision { verdict: Verdict::Approve, value, note, digest })
        }
        Verdict::Deny => Ok(NewDecision { verdict, value: None, note, digest }),
        Verdict::Respond => {
            let detail = wire_map::approval_detail(gate::get(&state.ledger, &viewer.scope, id).await?);
            let answer = ui::typed_answer(&detail.approval, typed).map_err(super::form::unreadable)?;
            let value = answer.map(|answer| answer.to_string());
            let value = value.or_else(|| super::form::json_or_text(&form.text("answer")));
            Ok(NewDecision { verdict, value, note, digest })
        }
    }
}

async fn snooze(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let asked = match seconds(&form, "seconds") {
        Ok(seconds) => gate::snooze(&state.ledger, &viewer.scope, id, seconds).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match asked {
        Ok(item) => {
            let notice = if item.snoozed_until.is_some() { "snoozed" } else { "unsnoozed" };
            next_item(&state, &viewer, &headers, &form, notice).await
        }
        Err(problem) => refused(&state, viewer, id, &headers, form.refused("snooze", &problem), &problem).await,
    }
}

fn seconds(form: &Form, field: &str) -> Result<Option<i64>, Problem> {
    let Some(text) = form.optional(field) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| Problem::field(Code::InvalidRequest, field, "whole seconds"))
}

/// The fragment that a script shows after a decision: the decisions that can be undone. The script has removed the row
/// already and reads the list again later.
async fn undoable_fragment(state: &AppState, viewer: &Viewer) -> Result<Response, PageRejection> {
    let held = undoable_decisions(state, viewer).await?;
    Ok(Html(ui::held_fragment(&held, viewer.shell.now)).into_response())
}

/// Redirects to the next item.
async fn next_item(
    state: &AppState,
    viewer: &Viewer,
    headers: &HeaderMap,
    form: &Form,
    notice: &str,
) -> Result<Response, PageRejection> {
    if wants_fragment(headers) {
        return undoable_fragment(state, viewer).await;
    }
    let next: Option<GateId> = form.optional("next").and_then(|id| id.parse().ok());
    let path = next.map_or_else(|| "/inbox".to_owned(), |id| format!("/inbox/{id}"));
    Ok(redirect_with_notice(&path, notice).into_response())
}

/// Shows the item again with the refusal and the typed values.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    id: GateId,
    headers: &HeaderMap,
    form: FormState,
    problem: &Problem,
) -> Result<Response, PageRejection> {
    let status = problem.status();
    let mut response = if wants_fragment(headers) {
        let found = page::detail(&state.ledger, &viewer.scope, id).await?;
        (status, Html(ui::detail_fragment(&shown(&viewer, found, None, form)))).into_response()
    } else {
        let props = read(state, &viewer, &ListQuery::default(), Beside::Item(id), form).await?;
        render(status, move || ui::page(&viewer.shell, props)).await
    };
    problem.mark(&mut response);
    Ok(response)
}

/// The items that a form names, with the digests that the viewer saw.
fn items(form: &Form) -> Result<Vec<(GateId, String)>, Problem> {
    let mut items = Vec::new();
    for (id, digest) in form.below("item.") {
        let id = id.parse().map_err(|_| Problem::field(Code::InvalidId, id, "not an id"))?;
        items.push((id, digest.to_owned()));
    }
    if items.len() > page::ITEMS as usize {
        return Err(Problem::detailed(Code::TooLarge, format!("at most {} items at once", page::ITEMS)));
    }
    Ok(items)
}

async fn decide_many(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let puts_aside = form.has("snooze");
    let seconds = seconds(&form, "snooze")?;
    let verdict = Verdict::parse(&form.text("decision")).filter(|v| matches!(v, Verdict::Approve | Verdict::Deny));
    if verdict.is_none() && !puts_aside {
        return Err(Problem::field(Code::InvalidRequest, "decision", "approve or deny").into());
    }
    let selected = items(&form)?;
    if selected.is_empty() {
        // The error belongs to no item, so the list shows it above its rows.
        let why = "No item was selected, so nothing was changed. Select items first.".to_owned();
        let refused = [(String::new(), why)].into();
        return list_with_refusals(&state, viewer, &query, &headers, refused, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    let mut refused = BTreeMap::new();
    for (id, digest) in selected {
        let answer = match verdict {
            Some(verdict) => {
                let new = NewDecision { verdict, value: None, note: form.optional("note"), digest: Some(digest) };
                gate::decide(&state.ledger, &viewer.scope, id, new).await
            }
            None => gate::snooze(&state.ledger, &viewer.scope, id, seconds).await,
        };
        note_refusal(&mut refused, id, answer.err());
    }
    if refused.is_empty() && wants_fragment(&headers) {
        return undoable_fragment(&state, &viewer).await;
    }
    batch_result(&state, viewer, &query, &headers, refused, if puts_aside { "snoozed" } else { "decided" }).await
}

async fn undo(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let mut refused = BTreeMap::new();
    for (id, _) in items(&form)? {
        let answer = gate::undo(&state.ledger, &viewer.scope, id).await;
        note_refusal(&mut refused, id, answer.err());
    }
    batch_result(&state, viewer, &query, &headers, refused, "decision_undone").await
}

fn note_refusal(refused: &mut BTreeMap<String, String>, id: GateId, error: Option<ledger::Error>) {
    if let Some(error) = error {
        let problem = Problem::from(error).to_wire(String::new());
        refused.insert(id.to_string(), problem.detail.unwrap_or(problem.title));
    }
}

/// Answers a batch: the list names the decisions that were refused, with the reasons.
async fn batch_result(
    state: &AppState,
    viewer: Viewer,
    query: &ListQuery,
    headers: &HeaderMap,
    refused: BTreeMap<String, String>,
    notice: &str,
) -> Result<Response, PageRejection> {
    if refused.is_empty() && !wants_fragment(headers) {
        return Ok(redirect_with_notice("/inbox", notice).into_response());
    }
    list_with_refusals(state, viewer, query, headers, refused, StatusCode::OK).await
}

/// The list with the refusals: as a fragment for scripts, otherwise in its page.
async fn list_with_refusals(
    state: &AppState,
    viewer: Viewer,
    query: &ListQuery,
    headers: &HeaderMap,
    refused: BTreeMap<String, String>,
    status: StatusCode,
) -> Result<Response, PageRejection> {
    if wants_fragment(headers) {
        let list = List { refused, ..read_list(state, &viewer, query).await? };
        return Ok((status, Html(ui::list_fragment(&list))).into_response());
    }
    let mut props = read(state, &viewer, query, Beside::First, FormState::default()).await?;
    props.list.refused = refused;
    Ok(render(status, move || ui::page(&viewer.shell, props)).await)
}
