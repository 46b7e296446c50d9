//! /canvases: list, create, one of them with its forms, and its files.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    canvas::{self as ui, ListProps, Props, Suggestion},
};
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    canvas::{
        Document, Operation, ParticipantRole, SuggestionState,
        outline::{added, blocks, edited, markdown, removed, ticked},
    },
    id::SessionId,
};
use ledger::{
    Error, Ledger, ListPage, Scope, SuggestionRecord,
    canvas::{self, Canvas, Decision, NewCanvas, Outcome, SentPatch},
};
use serde::Deserialize;
use serde_json::json;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/canvases", get(list).post(create))
        .route("/canvases/{id}", get(show).post(post))
        .route("/canvases/{id}/export", get(export))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

#[derive(Default, Deserialize)]
struct ExportQuery {
    format: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = list_props(&state.ledger, &viewer.scope, query.cursor).await?;
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn list_props(ledger: &Ledger, scope: &Scope, cursor: Option<String>) -> Result<ListProps, Problem> {
    let is_newest = cursor.is_none();
    let listed = canvas::list(ledger, scope, ListPage { limit: 0, cursor }).await?;
    let page = wire_map::page(listed, wire_map::canvas_summary);
    Ok(ListProps { canvases: page.items, is_newest, next_cursor: page.next_cursor, form: FormState::default() })
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let new = NewCanvas { title: form.text("title").trim().to_owned(), ..NewCanvas::default() };
    let problem = match canvas::create(&state.ledger, &viewer.scope, new).await {
        Ok(id) => return Ok(redirect_with_notice(&format!("/canvases/{id}"), "action_saved").into_response()),
        Err(error) => Problem::from(error),
    };
    let props = list_props(&state.ledger, &viewer.scope, None).await?;
    let props = ListProps { form: form.refused("", &problem), ..props };
    Ok(render_or_refuse(Some(&problem), move || ui::list_page(&viewer.shell, props)).await)
}

async fn show(State(state): State<AppState>, viewer: Viewer, Id(id): Id<SessionId>) -> Result<Response, PageRejection> {
    let props = props(&state.ledger, &viewer.scope, id).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

/// What the page shows.
async fn props(ledger: &Ledger, scope: &Scope, id: SessionId) -> ledger::Result<Props> {
    let canvas = canvas::get(ledger, scope, id).await?;
    Ok(props_of(canvas, canvas::suggestions(ledger, scope, id).await?))
}

fn props_of(Canvas { session, record, role, write_back_id }: Canvas, suggestions: Vec<SuggestionRecord>) -> Props {
    let document = Document::read(&record.document).unwrap_or_default();
    let status = session.status();
    Props {
        id: session.id,
        title: session.title,
        status,
        version: record.version,
        patches: record.patches,
        changed_at: record.changed_at,
        blocks: blocks(&document),
        entity_id: session.entity_id,
        write_back_id,
        role: role.filter(|_| !status.is_final()),
        suggestions: suggestions.into_iter().map(suggestion).collect(),
        form: FormState::default(),
    }
}

fn suggestion(record: SuggestionRecord) -> Suggestion {
    let ops: Vec<Operation> = serde_json::from_str(&record.ops).unwrap_or_default();
    let changes = ops.iter().map(|operation| json!(operation).to_string()).collect::<Vec<_>>().join("\n");
    Suggestion { op_id: record.op_id, by: record.author, at: record.at, changes }
}

/// Adds, edits, ticks or removes a block, or completes the canvas.
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match change(&state.ledger, &viewer.scope, id, &form).await {
        Ok(notice) => Ok(redirect_with_notice(&format!("/canvases/{id}"), notice).into_response()),
        Err(problem) => {
            let now = props(&state.ledger, &viewer.scope, id).await?;
            refused(viewer, now, &form, problem).await
        }
    }
}

/// The page of the canvas as it is now, with the typed text and why it was not saved; an error page if the viewer may
/// not change the canvas any more.
async fn refused(viewer: Viewer, shown: Props, form: &Form, problem: Problem) -> Result<Response, PageRejection> {
    if !matches!(shown.role, Some(ParticipantRole::Edit | ParticipantRole::Suggest)) {
        return Err(problem.into());
    }
    // The text of a block that is gone is in the form of a new one.
    let block = form.text("block");
    let is_shown = shown.blocks.iter().any(|one| !block.is_empty() && one.id == block);
    let name = if is_shown { ui::edit_form(&block) } else { ui::ADD.to_owned() };
    let shown = Props { form: form.refused(&name, &problem), ..shown };
    Ok(render_or_refuse(Some(&problem), move || ui::page(&viewer.shell, shown)).await)
}

/// Does what the button says. Returns the notice of the page after it.
async fn change(ledger: &Ledger, scope: &Scope, id: SessionId, form: &Form) -> Result<&'static str, Problem> {
    let step = form.text("do");
    if step == "complete" {
        canvas::complete(ledger, scope, id, None).await?;
        return Ok("action_saved");
    }
    notice(match decision(&step) {
        Some(decision) => canvas::decide_suggestion(ledger, scope, id, form.text("suggestion"), decision).await?,
        None => send(ledger, scope, id, (&step, form)).await?,
    })
}

/// The decision about a suggestion that a button means; `None` for other buttons.
fn decision(step: &str) -> Option<Decision> {
    match step {
        "accept" => Some(Decision::Accept),
        "decline" => Some(Decision::Decline),
        _ => None,
    }
}

/// The notice after a change.
fn notice(outcome: Outcome) -> Result<&'static str, Problem> {
    match outcome {
        Outcome::Committed(_) | Outcome::Suggested(SuggestionState::Declined | SuggestionState::Accepted) => {
            Ok("action_saved")
        }
        Outcome::Suggested(SuggestionState::Open) => Ok("canvas_suggested"),
        Outcome::Rejected { rejected, .. } => {
            Err(Problem::detailed(Code::StaleVersion, ui::rejected_words(rejected.reason)))
        }
    }
}

/// Sends the change that a form asks for. It is made of the version that its page showed, so that a form that is sent
/// twice is the same change.
async fn send(ledger: &Ledger, scope: &Scope, id: SessionId, (step, form): (&str, &Form)) -> ledger::Result<Outcome> {
    let base: u64 =
        form.text("base").parse().map_err(|_| Error::invalid("base", "the version that the page showed"))?;
    let shown = canvas::state(ledger, scope, id, Some(base)).await?;
    let ops = operations(&shown.document, step, form)?;
    let ops = ops.iter().map(|operation| json!(operation)).collect();
    let sent = SentPatch { op_id: format!("page-{}:1", form.text("key")), base, ops, is_strict: false };
    canvas::patch(ledger, scope, id, sent).await
}

fn operations(document: &Document, step: &str, form: &Form) -> ledger::Result<Vec<Operation>> {
    let (block, text) = (form.text("block"), form.text("text"));
    match step {
        "add" if text.trim().is_empty() => Err(Error::invalid("text", "some text")),
        "add" => {
            let kind = form.text("kind");
            if !["text", "heading", "code"].contains(&kind.as_str()) {
                return Err(Error::invalid("kind", "text, heading or code"));
            }
            let id = format!("b{}", form.text("key"));
            added(document, &id, &kind, &text).map_err(|error| Error::invalid("text", error.to_string()))
        }
        "edit" => Ok(vec![edited(document, &block, &text)]),
        "tick" => Ok(vec![ticked(document, &block, &form.text("item"), form.text("value") == "true")]),
        "remove" => Ok(vec![removed(&block)]),
        _ => Err(Error::invalid("do", "add, edit, tick, remove, complete, accept or decline")),
    }
}

/// The canvas as a file: Markdown of its blocks, or the document as JSON.
async fn export(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<ExportQuery>,
) -> Result<Response, PageRejection> {
    let canvas = canvas::get(&state.ledger, &viewer.scope, id).await?;
    let (text, kind, ending) = match query.format.as_deref() {
        Some("json") => (canvas.record.document, "application/json", "json"),
        _ => (as_markdown(&canvas), "text/markdown; charset=utf-8", "md"),
    };
    let file = format!("attachment; filename=\"canvas-{id}.{ending}\"");
    let head = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, file)];
    Ok((head, [(header::CACHE_CONTROL, "no-store")], text).into_response())
}

fn as_markdown(canvas: &Canvas) -> String {
    let document = Document::read(&canvas.record.document).unwrap_or_default();
    markdown(&canvas.session.title, &blocks(&document))
}
