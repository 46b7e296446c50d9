//! /inbox: what waits for a decision, and deciding. Scripts ask for fragments of the same pages (`x-fragment`).

use super::{
    form::Form,
    sessions::entries,
    shell::{Turned, Viewer, done, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    entity::Relations,
    inbox::{self as ui, Detail, List, Props, Shown},
    session::Titles,
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
    id::{EntityId, GateId},
    limit::ENTITY_TITLES_MAX,
};
use ledger::{
    entity, event,
    event::Read,
    gate::{self, GateFilter, ListGates, MayDecide, NewDecision},
    page, session, work_queue,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use wire::{Code, approval::Approval};

/// Rows of one page: what one press can decide.
const ROWS: u32 = 200;
/// Sessions shown that wait for the viewer in a terminal.
const ELSEWHERE: u32 = 20;
/// Events shown of what led to an item.
const TAIL_EVENTS: u32 = 12;

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

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Response, Turned> {
    let list = read_list(&state, &viewer, &query, None).await?;
    page(&state, viewer, list, FormState::default(), StatusCode::OK).await
}

async fn open(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
    Query(query): Query<ListQuery>,
) -> Result<Response, Turned> {
    let list = read_list(&state, &viewer, &query, Some(id)).await?;
    page(&state, viewer, list, FormState::default(), StatusCode::OK).await
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Html<String>, Turned> {
    let list = read_list(&state, &viewer, &query, None).await?;
    Ok(Html(ui::list_fragment(&list)))
}

async fn detail(State(state): State<AppState>, viewer: Viewer, Id(id): Id<GateId>) -> Result<Html<String>, Turned> {
    let item = read_detail(&state, &viewer, id, None, FormState::default()).await?;
    Ok(Html(ui::detail_fragment(&item)))
}

/// The page around a list: with the item that it has open, or else beside its first.
async fn page(
    state: &AppState,
    viewer: Viewer,
    mut list: List,
    form: FormState,
    status: StatusCode,
) -> Result<Response, Turned> {
    let opened = list.current.is_some();
    if !opened {
        list.current = list.items.first().map(|item| item.id.clone());
    }
    let detail = match list.current.as_deref().and_then(|id| id.parse().ok()) {
        Some(id) => Some(read_detail(state, &viewer, id, Some(&list), form).await?),
        None => None,
    };
    Ok(render(status, move || ui::page(&viewer.shell, Props { list, detail, opened })).await)
}

async fn read_list(
    state: &AppState,
    viewer: &Viewer,
    query: &ListQuery,
    current: Option<GateId>,
) -> Result<List, Turned> {
    let shown = query.state.as_deref().map(Shown::parse).unwrap_or_default();
    let everybody = query.assigned_to.as_deref() == Some("all");
    let wanted = ListGates {
        filter: match shown {
            Shown::Open => GateFilter::In(GateState::Open),
            Shown::Snoozed => GateFilter::Snoozed,
            Shown::Settled => GateFilter::In(GateState::Settled),
        },
        kind: None,
        all: everybody,
        limit: ROWS,
        cursor: query.cursor.clone(),
    };
    let listed = gate::list(&state.ledger, &viewer.scope, wanted).await?;
    let elsewhere = match shown {
        Shown::Open => work_queue::elsewhere(&state.ledger, &viewer.scope, ELSEWHERE).await?,
        _ => Vec::new(),
    };
    let items: Vec<Approval> = listed.items.into_iter().map(wire_map::approval).collect();
    Ok(List {
        titles: named(state, viewer, &items, std::iter::empty()).await?,
        terminal_sessions: entries(state, &viewer.scope, elsewhere).await?,
        shown,
        everybody,
        items,
        next_cursor: listed.next_cursor,
        is_continued: query.cursor.is_some(),
        held: held(state, viewer).await?,
        now: viewer.shell.now,
        current: current.map(|id| id.to_string()),
        unfolded: query.open.clone(),
        selected: query.select.clone(),
        refused: BTreeMap::new(),
    })
}

/// The titles of the records whose ids stand in what is proposed, and in further texts.
async fn named<'a>(
    state: &AppState,
    viewer: &Viewer,
    items: &[Approval],
    more: impl Iterator<Item = &'a str>,
) -> Result<Titles, Turned> {
    let proposed = items.iter().flat_map(ui::proposed_ids);
    let more = more.filter_map(|text| text.parse().ok());
    let ids: BTreeSet<EntityId> = proposed.chain(more).collect();
    let ids: Vec<EntityId> = ids.into_iter().take(ENTITY_TITLES_MAX).collect();
    if ids.is_empty() {
        return Ok(Titles::new());
    }
    let titles = entity::titles(&state.ledger, &viewer.scope, &ids).await?;
    Ok(titles.into_iter().map(|(id, title, _)| (id.to_string(), title)).collect())
}

/// What the viewer decided and can still undo.
async fn held(state: &AppState, viewer: &Viewer) -> Result<Vec<Approval>, Turned> {
    let items = gate::held(&state.ledger, &viewer.scope, ROWS).await?;
    Ok(items.into_iter().map(wire_map::approval).collect())
}

async fn read_detail(
    state: &AppState,
    viewer: &Viewer,
    id: GateId,
    list: Option<&List>,
    form: FormState,
) -> Result<Detail, Turned> {
    let found = gate::get(&state.ledger, &viewer.scope, id).await?;
    let session_id = found.item.gate.session_id;
    let head = session::get(&state.ledger, &viewer.scope, session_id).await?.head_sequence;
    let wanted = Read { before_sequence: Some(head + 1), limit: TAIL_EVENTS, ..Read::default() };
    let slice = event::read(&state.ledger, &viewer.scope, session_id, wanted).await?;
    let mut titles = page::names_in(&state.ledger, &viewer.scope, &slice.events).await?.into_iter().collect::<Titles>();
    let relations = match found.item.may_decide {
        MayDecide::Yes => super::entity::relations(state, &viewer.scope, &found.fields).await?,
        _ => Relations::default(),
    };
    let item = wire_map::approval_detail(found);
    let now_has = item.entity.iter().flat_map(|entity| entity.fields.values());
    let then_had = item.entity_then.iter().flat_map(|then| then.fields.values());
    let now_has = now_has.chain(then_had).filter_map(|value| value.as_str());
    titles.extend(named(state, viewer, std::slice::from_ref(&item.approval), now_has).await?);
    let viewer_id = viewer.scope.user_id().map(|id| id.to_string());
    let before = viewer_id.as_deref().and_then(|viewer_id| ui::undone_form(&item, viewer_id));
    let form = if form == FormState::default() { before.unwrap_or_default() } else { form };
    let next = list.and_then(|list| {
        let id = id.to_string();
        let at = list.items.iter().position(|item| item.id == id)?;
        Some(list.items.get(at + 1)?.id.clone())
    });
    Ok(Detail {
        item,
        next,
        events: slice.events.into_iter().map(wire_map::event).collect(),
        titles,
        relations,
        now: viewer.shell.now,
        viewer_id,
        form,
    })
}

/// Whether a script asks, which shows the list itself.
fn is_fragment(headers: &HeaderMap) -> bool {
    headers.contains_key("x-fragment")
}

async fn decide(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<GateId>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, Turned> {
    let asked = match new_decision(&state, &viewer, id, &form).await {
        Ok(new) => gate::decide(&state.ledger, &viewer.scope, id, new).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match asked {
        Ok(_) => went(&state, &viewer, &headers, &form, "decided").await,
        Err(problem) => {
            refused(&state, viewer, id, &headers, form.refused(&form.text("decision"), &problem), &problem).await
        }
    }
}

/// The decision that a form asks for. Whether an approval with these values is an edit is decided by `gate::decide`.
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
) -> Result<Response, Turned> {
    let asked = match seconds(&form, "seconds") {
        Ok(seconds) => gate::snooze(&state.ledger, &viewer.scope, id, seconds).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match asked {
        Ok(item) => {
            let notice = if item.snoozed_until.is_some() { "snoozed" } else { "unsnoozed" };
            went(&state, &viewer, &headers, &form, notice).await
        }
        Err(problem) => refused(&state, viewer, id, &headers, form.refused("snooze", &problem), &problem).await,
    }
}

fn seconds(form: &Form, field: &str) -> Result<Option<i64>, Problem> {
    let Some(text) = form.optional(field) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| Problem::field(Code::InvalidRequest, field, "whole seconds"))
}

/// What a script shows after a decision: the row that was decided is gone there already, the others it reads in a pause.
async fn held_alone(state: &AppState, viewer: &Viewer) -> Result<Response, Turned> {
    let held = held(state, viewer).await?;
    Ok(Html(ui::held_fragment(&held, viewer.shell.now)).into_response())
}

/// On to the next item.
async fn went(
    state: &AppState,
    viewer: &Viewer,
    headers: &HeaderMap,
    form: &Form,
    notice: &str,
) -> Result<Response, Turned> {
    if is_fragment(headers) {
        return held_alone(state, viewer).await;
    }
    let next: Option<GateId> = form.optional("next").and_then(|id| id.parse().ok());
    let path = next.map_or_else(|| "/inbox".to_owned(), |id| format!("/inbox/{id}"));
    Ok(done(&path, notice).into_response())
}

/// The item again with the refusal on it, and everything that was typed.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    id: GateId,
    headers: &HeaderMap,
    form: FormState,
    problem: &Problem,
) -> Result<Response, Turned> {
    let status = problem.status();
    let mut response = if is_fragment(headers) {
        let item = read_detail(state, &viewer, id, None, form).await?;
        (status, Html(ui::detail_fragment(&item))).into_response()
    } else {
        let list = read_list(state, &viewer, &ListQuery::default(), Some(id)).await?;
        page(state, viewer, list, form, status).await?
    };
    problem.mark(&mut response);
    Ok(response)
}

/// The items that a form names, with the digests that were shown.
fn items(form: &Form) -> Result<Vec<(GateId, String)>, Problem> {
    let mut items = Vec::new();
    for (id, digest) in form.below("item.") {
        let id = id.parse().map_err(|_| Problem::field(Code::InvalidId, id, "not an id"))?;
        items.push((id, digest.to_owned()));
    }
    if items.len() > ROWS as usize {
        return Err(Problem::detailed(Code::TooLarge, format!("at most {ROWS} items at once")));
    }
    Ok(items)
}

async fn decide_many(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, Turned> {
    let puts_aside = form.has("snooze");
    let seconds = seconds(&form, "snooze")?;
    let verdict = Verdict::parse(&form.text("decision")).filter(|v| matches!(v, Verdict::Approve | Verdict::Deny));
    if verdict.is_none() && !puts_aside {
        return Err(Problem::field(Code::InvalidRequest, "decision", "approve or deny").into());
    }
    let selected = items(&form)?;
    if selected.is_empty() {
        // No item has this id, so the list says it above its rows.
        let why = "No item was selected, so nothing was changed. Select items first.".to_owned();
        let list = List { refused: [(String::new(), why)].into(), ..read_list(&state, &viewer, &query, None).await? };
        return list_again(&state, viewer, list, &headers, StatusCode::UNPROCESSABLE_ENTITY).await;
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
    if refused.is_empty() && is_fragment(&headers) {
        return held_alone(&state, &viewer).await;
    }
    many_done(&state, viewer, &query, &headers, refused, if puts_aside { "snoozed" } else { "decided" }).await
}

async fn undo(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, Turned> {
    let mut refused = BTreeMap::new();
    for (id, _) in items(&form)? {
        let answer = gate::undo(&state.ledger, &viewer.scope, id).await;
        note_refusal(&mut refused, id, answer.err());
    }
    many_done(&state, viewer, &query, &headers, refused, "decision_undone").await
}

fn note_refusal(refused: &mut BTreeMap<String, String>, id: GateId, error: Option<ledger::Error>) {
    if let Some(error) = error {
        let problem = Problem::from(error).to_wire(String::new());
        refused.insert(id.to_string(), problem.detail.unwrap_or(problem.title));
    }
}

/// Each of many was answered on its own: the list says which were refused, and why.
async fn many_done(
    state: &AppState,
    viewer: Viewer,
    query: &ListQuery,
    headers: &HeaderMap,
    refused: BTreeMap<String, String>,
    notice: &str,
) -> Result<Response, Turned> {
    if refused.is_empty() && !is_fragment(headers) {
        return Ok(done("/inbox", notice).into_response());
    }
    let list = List { refused, ..read_list(state, &viewer, query, None).await? };
    list_again(state, viewer, list, headers, StatusCode::OK).await
}

/// The list with what was refused on it: alone for a script, else in its page.
async fn list_again(
    state: &AppState,
    viewer: Viewer,
    list: List,
    headers: &HeaderMap,
    status: StatusCode,
) -> Result<Response, Turned> {
    if is_fragment(headers) {
        return Ok((status, Html(ui::list_fragment(&list))).into_response());
    }
    page(state, viewer, list, FormState::default(), status).await
}
